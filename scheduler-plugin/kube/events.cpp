#include "scheduler-plugin/kube/events.hpp"

#include <utility>

#include "common/base/json_writer.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kController = "chipweave.dev/scheduler";
std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

}  // namespace

PodEvents::PodEvents(kube::Transport& transport, const Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), sender_(transport, clock, options_.limits) {}

// The name of the event that is on its way.
std::string PodEvents::create(const PodKey& pod, std::string_view uid, bool warning,
                              const char* reason, const char* action, const std::string& note) {
  return sender_.send({{"Pod", pod.ns, pod.name, std::string(uid)},
                       kController,
                       options_.instance,
                       warning,
                       reason,
                       action,
                       note});
}

void PodEvents::bound(const BoundPod& pod) {
  told_.erase(pod.uid);
  std::string note = "Assigned chips " + pod.chips + " of node " + pod.node;
  if (pod.best_gbps > 0) {
    note += ": " + number(pod.gbps) + " GB/s predicted, " + number(pod.best_gbps) +
            " the best so many can have there";
  }
  create(pod.pod, pod.uid, false, "ChipsAssigned", "Binding",
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
        create(pod, uid, true, "ChipsUnavailable", "Scheduling",
               "No node has the chips: " + told.why + ". More: chipweave explain " + pod.text());
    return;
  }
  ++told.count;
  if (now - told.last < options_.told_again) return;
  told.last = now;
  sender_.count({"Pod", pod.ns, pod.name, std::string(uid)}, told.event, told.count);
}

}  // namespace chipweave::sched
