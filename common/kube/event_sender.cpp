#include "common/kube/event_sender.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/kube/watch.hpp"
#include "common/kube/api_chain.hpp"
#include "common/obs/log.hpp"

namespace chipweave::kube {
namespace {

constexpr int kLeastRefusal = 300;
// A server that makes up reasons must not fill the log.
constexpr std::size_t kMaxComplaints = 64;
constexpr std::size_t kMaxWord = 64;

// "HTTP 403 Forbidden NamespaceTerminating"
std::string reason_of(const Result<Reply>& reply) {
  if (!reply) return to_string(reply.error().code);
  std::string out = "HTTP " + std::to_string(reply->status);
  std::string body = reply->body;
  const codec::KubeStatus status = codec::read_status(body);
  for (const std::string& word : {status.reason, status.cause}) {
    if (!word.empty()) out += " " + word.substr(0, kMaxWord);
  }
  return out;
}

}  // namespace

EventSender::EventSender(Transport& transport, const Clock& clock, EventLimits limits)
    : transport_(transport),
      clock_(clock),
      limits_(limits),
      tokens_(limits.at_once),
      refilled_(clock.now()) {}

std::string EventSender::send(const codec::KubeEvent& event) {
  const Clock::Wall now = clock_.wall();
  std::string name = codec::event_name(event.about, now, ++names_);
  enqueue(call_of("POST", codec::event_path(event.about), codec::write_event(event, name, now)));
  return name;
}

void EventSender::count(const codec::EventObject& about, const std::string& name, int times) {
  Call call = call_of("PATCH", codec::event_path(about) + "/" + name,
                      codec::write_event_series(times, clock_.wall()));
  call.content_type = "application/merge-patch+json";
  enqueue(std::move(call));
}

void EventSender::enqueue(Call call) {
  call.deadline = std::chrono::milliseconds(5000);
  if (waiting_.size() >= limits_.max_waiting) {
    waiting_.pop_front();
    ++stats_.dropped;
  }
  waiting_.push_back(std::move(call));
  pump();
}

// One at a time, within the rate limit.
void EventSender::pump() {
  if (call_ != nullptr || pause_ != nullptr || waiting_.empty()) return;
  const Clock::Steady now = clock_.now();
  tokens_ = std::min<double>(
      limits_.at_once,
      tokens_ + std::chrono::duration<double>(now - refilled_).count() * limits_.per_second);
  refilled_ = now;
  if (tokens_ < 1) {
    const auto wait = std::chrono::duration<double>((1 - tokens_) / limits_.per_second);
    pause_ = transport_.after(
        std::chrono::duration_cast<std::chrono::milliseconds>(wait) + std::chrono::milliseconds(1),
        [this] {
          const auto over = std::move(pause_);
          pump();
        });
    return;
  }
  tokens_ -= 1;
  Call next = std::move(waiting_.front());
  waiting_.pop_front();
  call_ = transport_.call(std::move(next), [this](const Result<Reply>& reply) {
    const auto over = std::move(call_);
    ended(reply);
    pump();
  });
}

void EventSender::ended(const Result<Reply>& reply) {
  if (reply && reply->status < kLeastRefusal) {
    ++stats_.sent;
    return;
  }
  ++(reply ? stats_.refused : stats_.dropped);
  // The server's message names the event, so it differs each time.
  const std::string reason = reason_of(reply);
  if (complaints_.size() >= kMaxComplaints || !complaints_.insert(reason).second) return;
  obs::log(obs::Level::warn,
           "cannot send an event; further failures for this reason are not logged",
           {{"reason", reason}, {"problem", problem_of(reply)}});
}

}  // namespace chipweave::kube
