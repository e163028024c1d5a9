#include "scheduler-plugin/kube/events.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kController = "chipweave.dev/scheduler";
constexpr std::size_t kMostNote = 1024;  // bytes; the API server refuses more
constexpr std::size_t kMostInstance = 128;
constexpr std::size_t kMostName = 253 - 20;  // of the pod's name in that of its event

std::string path_of(const std::string& ns) {
  return "/apis/events.k8s.io/v1/namespaces/" + ns + "/events";
}

std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

}  // namespace

PodEvents::PodEvents(kube::Transport& transport, const Clock& clock, Options options)
    : transport_(transport),
      clock_(clock),
      options_(std::move(options)),
      tokens_(options_.at_once),
      refilled_(clock.now()) {}

// The name of the event that is on its way.
std::string PodEvents::create(const PodKey& pod, std::string_view uid, const char* type,
                              const char* reason, const char* action, const std::string& note) {
  const Clock::Wall now = clock_.wall();
  std::array<char, 32> unique{};
  std::snprintf(unique.data(), unique.size(), ".%llx",
                static_cast<unsigned long long>(now.time_since_epoch().count()) + ++names_);
  std::string name = pod.name.substr(0, kMostName) + unique.data();
  JsonWriter w;
  w.begin_object().field("apiVersion", "events.k8s.io/v1").field("kind", "Event");
  w.key("metadata").begin_object().field("name", name).field("namespace", pod.ns).end_object();
  w.field("eventTime", rfc3339_micros(now)).field("reportingController", kController);
  w.field("reportingInstance", with_dots(options_.instance, kMostInstance));
  w.field("type", type).field("reason", reason).field("action", action);
  w.field("note", with_dots(note, kMostNote)).key("regarding").begin_object();
  w.field("apiVersion", "v1").field("kind", "Pod").field("namespace", pod.ns);
  w.field("name", pod.name).field("uid", uid).end_object().end_object();
  kube::Call call;
  call.method = "POST";
  call.target = path_of(pod.ns);
  call.body = w.take();
  enqueue(std::move(call));
  return name;
}

void PodEvents::bound(const BoundPod& pod) {
  told_.erase(pod.uid);
  std::string note = "Assigned chips " + pod.chips + " of node " + pod.node;
  if (pod.best_gbps > 0) {
    note += ": " + number(pod.gbps) + " GB/s predicted, " + number(pod.best_gbps) +
            " the best so many can have there";
  }
  create(pod.pod, pod.uid, "Normal", "ChipsAssigned", "Binding",
         note + " (decision " + pod.decision + ")");
}

void PodEvents::unplaceable(const PodKey& pod, std::string_view uid, std::string_view why) {
  const Clock::Steady now = clock_.now();
  if (told_.size() >= options_.max_remembered) told_.clear();
  Told& told = told_[std::string(uid)];
  if (told.why != why) {
    told.why = why;
    told.count = 1;
    told.last = now;
    told.event =
        create(pod, uid, "Warning", "ChipsUnavailable", "Scheduling",
               "No node has the chips: " + told.why + ". More: chipweave explain " + pod.text());
    return;
  }
  ++told.count;
  if (now - told.last < options_.told_again) return;
  told.last = now;
  JsonWriter w;
  w.begin_object().key("series").begin_object().key("count").integer(told.count);
  w.field("lastObservedTime", rfc3339_micros(clock_.wall())).end_object().end_object();
  kube::Call call;
  call.method = "PATCH";
  call.target = path_of(pod.ns) + "/" + told.event;
  call.content_type = "application/merge-patch+json";
  call.body = w.take();
  enqueue(std::move(call));
}

void PodEvents::enqueue(kube::Call call) {
  call.deadline = std::chrono::milliseconds(5000);
  if (waiting_.size() >= options_.max_waiting) {
    waiting_.pop_front();
    ++stats_.dropped;
  }
  waiting_.push_back(std::move(call));
  pump();
}

// One at a time, as tokens allow.
void PodEvents::pump() {
  if (call_ != nullptr || pause_ != nullptr || waiting_.empty()) return;
  const Clock::Steady now = clock_.now();
  tokens_ = std::min<double>(
      options_.at_once,
      tokens_ + std::chrono::duration<double>(now - refilled_).count() * options_.per_second);
  refilled_ = now;
  if (tokens_ < 1) {
    const auto wait = std::chrono::duration<double>((1 - tokens_) / options_.per_second);
    pause_ = transport_.after(
        std::chrono::duration_cast<std::chrono::milliseconds>(wait) + std::chrono::milliseconds(1),
        [this] {
          const auto over = std::move(pause_);
          pump();
        });
    return;
  }
  tokens_ -= 1;
  kube::Call next = std::move(waiting_.front());
  waiting_.pop_front();
  call_ = transport_.call(std::move(next), [this](const Result<kube::Reply>& reply) {
    const auto over = std::move(call_);
    ++(reply && reply->status < 300 ? stats_.sent : stats_.dropped);
    pump();
  });
}

}  // namespace chipweave::sched
