#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// The PodGroup of scheduling.x-k8s.io, whose minMember is the minimum.
void read_scheduler_plugins(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("scheduling.x-k8s.io/pod-group");
}

}  // namespace chipweave::sched::gangs
