#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// With a PodGroup of scheduling.sigs.k8s.io, or by the pods alone; older pods have labels for that.
void read_koordinator(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("pod-group.scheduling.sigs.k8s.io");
  if (to.name.empty()) to.name = marks.annotation("gang.scheduling.koordinator.sh/name");
  if (to.name.empty()) to.name = marks.label("pod-group.scheduling.sigs.k8s.io/name");
  if (to.name.empty()) return;
  to.index = marks.number("gang.scheduling.koordinator.sh/network-topology-index", 0, to.problem);
  to.size = marks.number("gang.scheduling.koordinator.sh/total-number", 1, to.problem);
  to.minimum = marks.number("gang.scheduling.koordinator.sh/min-available", 1, to.problem);
  if (!to.minimum)
    to.minimum = marks.number("pod-group.scheduling.sigs.k8s.io/min-available", 1, to.problem);
}

}  // namespace chipweave::sched::gangs
