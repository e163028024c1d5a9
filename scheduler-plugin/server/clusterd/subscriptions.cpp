#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

#include <utility>

#include "common/base/foreign_text.hpp"

namespace chipweave::sched::clusterd {
namespace {

// The value of a label.
bool is_id(std::string_view id) {
  constexpr std::size_t kMostBytes = 63;
  if (id.empty() || id.size() > kMostBytes) return false;
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  for (const char c : id) {
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return is_alphanumeric(id.front()) && is_alphanumeric(id.back());
}

Error not_serving() {
  return make_error(Errc::unavailable,
                    "this replica of chipweave-scheduler does not lead, or has just started");
}

}  // namespace

Result<void> Subscriptions::register_for(const std::string& job) {
  if (!leads_) return not_serving();
  if (!is_id(job))
    return make_error(Errc::invalid_argument,
                      "jobId " + in_quotes(job) + " cannot be the value of a label jobID");
  const auto known = registered_.find(job);
  if (known == registered_.end() && registered_.size() >= kMaxRegistered)
    return make_error(Errc::limit_exceeded,
                      "more than " + std::to_string(kMaxRegistered) + " jobs are registered");
  if (known != registered_.end()) drop(known->second, false);
  Registration fresh;
  fresh.since = clock_.now();
  registered_.insert_or_assign(job, std::move(fresh));
  return {};
}

Result<void> Subscriptions::subscribe(const std::string& job, const std::string& host,
                                      std::shared_ptr<Subscriber> subscriber) {
  if (!leads_) return not_serving();
  const auto known = registered_.find(job);
  if (known == registered_.end())
    return make_error(Errc::not_found, in_quotes(job) + " is not registered");
  drop(known->second, false);
  if (auto entered = limits_.enter(host); !entered) return entered;
  Registration& to = known->second;
  to.host = host;
  to.subscriber = std::move(subscriber);
  to.sent.clear();
  ++subscribers_;
  push(to, current_(job));
  return {};
}

void Subscriptions::push(Registration& to, const std::string& message) {
  if (to.subscriber == nullptr || message.empty() || message == to.sent) return;
  to.sent = message;
  to.subscriber->send(std::make_shared<const std::string>(message));
}

void Subscriptions::push(const std::string& job, const std::string& message) {
  const auto known = registered_.find(job);
  if (known != registered_.end()) push(known->second, message);
}

void Subscriptions::each_subscribed(
    const std::function<void(const std::string& job)>& visit) const {
  for (const auto& [job, registration] : registered_) {
    if (registration.subscriber != nullptr) visit(job);
  }
}

void Subscriptions::drop(Registration& of, bool failed) {
  if (of.subscriber == nullptr) return;
  --subscribers_;
  limits_.leave(of.host);
  std::exchange(of.subscriber, nullptr)->end(failed);
}

void Subscriptions::remove(const Subscriber* subscriber) {
  for (auto at = registered_.begin(); at != registered_.end(); ++at) {
    if (at->second.subscriber.get() != subscriber) continue;
    drop(at->second, false);
    registered_.erase(at);
    return;
  }
}

void Subscriptions::tick(bool leads) {
  leads_ = leads;
  if (!leads) {
    for (auto& [job, registration] : registered_) drop(registration, true);
    registered_.clear();
    return;
  }
  const auto now = clock_.now();
  std::erase_if(registered_, [&](const auto& one) {
    return one.second.subscriber == nullptr && now - one.second.since >= kRegistered;
  });
}

}  // namespace chipweave::sched::clusterd
