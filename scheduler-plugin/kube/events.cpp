#include "scheduler-plugin/kube/events.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

}  // namespace

PodEvents::PodEvents(kube::Transport& transport, const Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), sender_(transport, clock, options_.limits) {}

void PodEvents::send(const PodKey& pod, std::string_view uid, bool warning, const char* reason,
                     const char* action, const std::string& note, int times) {
  sender_.send({{"Pod", pod.ns, pod.name, std::string(uid)},
                kEventController,
                options_.instance,
                warning,
                reason,
                action,
                note},
               times);
}

void PodEvents::on(const Observation& seen) {
  std::visit(
      ByKind{[this](const PodBound& pod) { bound(pod); },
             [this](const PodUnplaceable& pod) { unplaceable(pod); },
             [this](const PodDrifted& pod) { drifted(pod); },
             [this](const NodeWithheld& node) { withheld(node); },
             [this](const PodPreempted& pod) { preempted(pod); },
             [this](const GangPodEnded& pod) { ended(pod); },
             [this](const PodWaitsNoMore& pod) { published_.erase(pod.uid); }, [](const auto&) {}},
      seen);
}

void PodEvents::bound(const PodBound& pod) {
  std::string note = "Assigned chips " + pod.chips + " of node " + pod.node;
  if (pod.best_gbps > 0) {
    note += ": " + number(pod.gbps) + " GB/s predicted; " + number(pod.best_gbps) +
            " is the best possible there";
  }
  send(pod.pod, pod.uid, false, "ChipsAssigned", "Binding",
       note + " (decision " + pod.decision + ")", 1);
  if (!pod.unenforced_gbps) return;
  send(pod.pod, pod.uid, true, "ChipsNotEnforced", "Binding",
       "On node " + pod.node + " the kubelet picks the chips itself, likely with " +
           number(*pod.unenforced_gbps) + " GB/s instead of " + number(pod.gbps) +
           ". To get the chosen ones, let chipweave hand them over: the chart's value "
           "agent.enforcement",
       1);
}

void PodEvents::drifted(const PodDrifted& pod) {
  if (!pod.leads) return;
  send(pod.pod, pod.uid, true, "ChipsDiffer", "Binding",
       "The kubelet has given chips " + comma_list(pod.given) + " of node " + pod.node + " (" +
           number(pod.given_gbps) + " GB/s predicted) instead of " + comma_list(pod.chosen) + " (" +
           number(pod.chosen_gbps) +
           " GB/s), which were chosen; chipweave counts with the given ones. Which of them a "
           "container gets is decided by the device plugin of the node",
       1);
}

// Nodes have their name as uid in events, as the kubelet's do.
void PodEvents::withheld(const NodeWithheld& node) {
  if (!node.leads || node.chips.empty()) return;
  sender_.send({{"Node", "", node.node, node.node},
                kEventController,
                options_.instance,
                true,
                "ChipsWithheld",
                "Scheduling",
                "Chips " + comma_list(node.chips) +
                    " are not given to pods, because DRA cannot hand them over: chip " +
                    std::to_string(node.chips.front()) + ": " + node.why},
               1);
}

void PodEvents::preempted(const PodPreempted& pod) {
  send(pod.pod, pod.uid, false, "Preempted", "Preempting",
       "Ends so that gang " + pod.gang + ", which has a higher priority, fits", 1);
}

void PodEvents::ended(const GangPodEnded& pod) {
  if (pod.error.empty()) {
    send(pod.pod, pod.uid, true, "FaultScheduling", "Evicting",
         "Ends, as its label fault-scheduling asks for: " + pod.why, 1);
  } else {
    send(pod.pod, pod.uid, true, "FaultScheduling", "Evicting",
         "Should end, since " + pod.why + ", but: " + pod.error, 1);
  }
}

void PodEvents::claims_wait(const PodKey& pod, std::string_view uid, const std::string& why) {
  send(pod, uid, true, "ClaimsWait", "Scheduling", "Its claims are not allocated: " + why, 1);
}

void PodEvents::claims_allocated(const PodKey& pod, std::string_view uid, const std::string& what) {
  send(pod, uid, false, "ClaimsAllocated", "Scheduling", "Allocated: " + what, 1);
}

void PodEvents::unplaceable(const PodUnplaceable& pod) {
  const Clock::Steady now = clock_.now();
  Published& published = published_[pod.uid];
  ++published.repeated;
  if (published.why == pod.why && now - published.last < options_.repeat_interval) return;
  if (published.why != pod.why) {
    published.why = pod.why;
    published.repeated = 1;
  }
  published.last = now;
  send(pod.pod, pod.uid, true, "ChipsUnavailable", "Scheduling",
       "No node fits: " + pod.why + ". Details: chipweave explain " + pod.pod.text(),
       std::exchange(published.repeated, 0));
}

}  // namespace chipweave::sched
