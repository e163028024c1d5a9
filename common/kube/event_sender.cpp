#include "common/kube/event_sender.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::kube {

EventSender::EventSender(Transport& transport, const Clock& clock, EventLimits limits)
    : transport_(transport),
      clock_(clock),
      limits_(limits),
      tokens_(limits.at_once),
      refilled_(clock.now()) {}

std::string EventSender::send(const codec::KubeEvent& event) {
  const Clock::Wall now = clock_.wall();
  std::string name = codec::event_name(event.about, now, ++names_);
  Call call;
  call.method = "POST";
  call.target = codec::event_path(event.about);
  call.body = codec::write_event(event, name, now);
  enqueue(std::move(call));
  return name;
}

void EventSender::count(const codec::EventObject& about, const std::string& name, int times) {
  Call call;
  call.method = "PATCH";
  call.target = codec::event_path(about) + "/" + name;
  call.content_type = "application/merge-patch+json";
  call.body = codec::write_event_series(times, clock_.wall());
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

// One at a time, as tokens allow.
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
    ++(reply && reply->status < 300 ? stats_.sent : stats_.dropped);
    pump();
  });
}

}  // namespace chipweave::kube
