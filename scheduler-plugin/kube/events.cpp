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

// Returns the name of the new event.
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

void PodEvents::on(const Observation& seen) {
  std::visit(
      ByKind{[this](const PodBound& pod) { bound(pod); },
             [this](const PodUnplaceable& pod) { unplaceable(pod); },
             [this](const PodWaitsNoMore& pod) { published_.erase(pod.uid); }, [](const auto&) {}},
      seen);
}

void PodEvents::bound(const PodBound& pod) {
  std::string note = "Assigned chips " + pod.chips + " of node " + pod.node;
  if (pod.best_gbps > 0) {
    note += ": " + number(pod.gbps) + " GB/s predicted; " + number(pod.best_gbps) +
            " is the best possible there";
  }
  create(pod.pod, pod.uid, false, "ChipsAssigned", "Binding",
         note + " (decision " + pod.decision + ")");
}

void PodEvents::unplaceable(const PodUnplaceable& pod) {
  const Clock::Steady now = clock_.now();
  Published& published = published_[pod.uid];
  if (published.why != pod.why) {
    published.why = pod.why;
    published.count = 1;
    published.last = now;
    published.event =
        create(pod.pod, pod.uid, true, "ChipsUnavailable", "Scheduling",
               "No node fits: " + pod.why + ". Details: chipweave explain " + pod.pod.text());
    return;
  }
  ++published.count;
  if (now - published.last < options_.repeat_interval) return;
  published.last = now;
  sender_.count({"Pod", pod.pod.ns, pod.pod.name, pod.uid}, published.event, published.count);
}

}  // namespace chipweave::sched
