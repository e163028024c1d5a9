#include "common/kube/event_sender.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/kube/watch.hpp"
#include "common/kube/api_chain.hpp"
#include "common/obs/log.hpp"

namespace chipweave::kube {
namespace {

constexpr int kLeastRefusal = 300;
constexpr std::chrono::seconds kDeadline{5};
constexpr std::chrono::milliseconds kLongestRetryAfter{120'000};
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
      backoff_(limits.retry, Backoff::seeded(limits.seed)),
      tokens_(limits.at_once),
      refilled_(clock.now()) {}

EventSender::Key EventSender::key_of(const codec::KubeEvent& event) {
  return {event.about.kind, event.about.ns, event.about.name, event.about.uid,
          event.reason,     event.warning,  event.note};
}

void EventSender::begin(Series& series, const codec::KubeEvent& event) {
  series = {};
  series.event = event;
  series.first = clock_.wall();
  series.name = codec::event_name(event.about, series.first, ++names_);
}

void EventSender::send(const codec::KubeEvent& event, int times) {
  // What is forgotten here and repeats is a new event.
  if (known_.size() > 2 * limits_.max_waiting) {
    std::erase_if(known_, [this](const auto& one) { return is_idle(one.second); });
  }
  const auto [known, is_new] = known_.try_emplace(key_of(event));
  Series& series = known->second;
  const Clock::Steady now = clock_.now();
  if (is_new || (is_idle(series) && now - series.seen > kSeriesWindow)) begin(series, event);
  series.count += times;
  series.last = clock_.wall();
  series.seen = now;
  if (is_idle(series)) enqueue(known);
}

void EventSender::enqueue(Known::iterator series) {
  if (waiting_.size() >= limits_.max_waiting) drop_one();
  series->second.waits = true;
  waiting_.push_back(series);
  pump();
}

void EventSender::drop_one() {
  auto found = std::find_if(waiting_.begin(), waiting_.end(),
                            [](const auto& series) { return !series->second.event.warning; });
  if (found == waiting_.end()) found = waiting_.begin();
  const Known::iterator series = *found;
  waiting_.erase(found);
  ++stats_.dropped;
  series->second.waits = false;
  if (series->second.stored == 0) known_.erase(series);
}

// Whether to wait until the rate limit allows the next request.
bool EventSender::wait_for_token() {
  const Clock::Steady now = clock_.now();
  tokens_ = std::min<double>(
      limits_.at_once,
      tokens_ + std::chrono::duration<double>(now - refilled_).count() * limits_.per_second);
  refilled_ = now;
  if (tokens_ >= 1) return false;
  const auto wait = std::chrono::duration<double>((1 - tokens_) / limits_.per_second);
  pause_ = transport_.after(
      std::chrono::duration_cast<std::chrono::milliseconds>(wait) + std::chrono::milliseconds(1),
      [this] {
        const auto over = std::move(pause_);
        pump();
      });
  return true;
}

Call EventSender::request_of(const Series& series) const {
  const std::string path = codec::event_path(series.event.about);
  Call out;
  if (series.stored == 0) {
    out = call_of(
        "POST", path,
        codec::write_event(series.event, series.name, series.first, {series.count, series.last}));
  } else {
    out = call_of("PATCH", path + "/" + series.name,
                  codec::write_event_series({series.count, series.last}));
    out.content_type = "application/merge-patch+json";
  }
  out.deadline = kDeadline;
  return out;
}

// One at a time, within the rate limit.
void EventSender::pump() {
  if (call_ != nullptr || pause_ != nullptr || waiting_.empty() || wait_for_token()) return;
  tokens_ -= 1;
  const Known::iterator series = waiting_.front();
  waiting_.pop_front();
  series->second.waits = false;
  sending_ = &series->second;
  call_ = transport_.call(request_of(series->second),
                          [this, series, count = series->second.count](const Result<Reply>& reply) {
                            const auto over = std::move(call_);
                            sending_ = nullptr;
                            ended(series, count, reply);
                            pump();
                          });
}

void EventSender::ended(Known::iterator known, int count, const Result<Reply>& reply) {
  Series& series = known->second;
  const bool created = series.stored == 0;
  // The answer to an earlier attempt was lost, which may have carried another count.
  const bool exists = created && reply && reply->status == kConflict;
  if (exists || (reply && reply->status < kLeastRefusal)) {
    series.stored = exists ? 1 : count;
    ++stats_.sent;
    backoff_.reset();
    if (series.count > series.stored) enqueue(known);
    return;
  }
  if (!created && reply && reply->status == kNotFound) {  // expired or deleted
    const int occurred = series.count;
    begin(series, codec::KubeEvent(series.event));
    series.count = occurred;
    series.last = series.first;
    series.seen = clock_.now();
    return enqueue(known);
  }
  const bool undelivered =
      !reply && (reply.error().code == Errc::unavailable || reply.error().code == Errc::deadline);
  if (undelivered || (reply && (is_transient(reply->status) || reply->status == kConflict))) {
    return retry(known, reply);
  }
  ++stats_.refused;
  known_.erase(known);
  complain("cannot send an event; further failures for this reason are not logged", reply);
}

void EventSender::retry(Known::iterator series, const Result<Reply>& reply) {
  complain("cannot send events yet; they are sent again", reply);
  series->second.waits = true;
  waiting_.push_front(series);
  if (waiting_.size() > limits_.max_waiting) drop_one();
  std::chrono::milliseconds at_least{0};
  if (reply && reply->retry_after) {
    at_least = std::min<std::chrono::milliseconds>(*reply->retry_after, kLongestRetryAfter);
  }
  pause_ = transport_.after(backoff_.next(at_least), [this] {
    const auto over = std::move(pause_);
    pump();
  });
}

// The server's message names the event, so it differs each time.
void EventSender::complain(const char* message, const Result<Reply>& reply) {
  const std::string reason = reason_of(reply);
  if (complaints_.size() >= kMaxComplaints || !complaints_.insert(reason).second) return;
  obs::log(obs::Level::warn, message, {{"reason", reason}, {"problem", problem_of(reply)}});
}

}  // namespace chipweave::kube
