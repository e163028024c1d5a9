#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// A group of plain pods; other jobs of Kueue carry the marks of their own framework.
void read_kueue(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("kueue.x-k8s.io/pod-group-name");
  if (to.name.empty()) return;
  to.size = marks.number("kueue.x-k8s.io/pod-group-total-count", 1, to.problem);
}

}  // namespace chipweave::sched::gangs
