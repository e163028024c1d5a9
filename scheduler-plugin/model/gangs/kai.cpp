#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// KAI and Run:ai. Their pod grouper writes these after the pod was made.
void read_kai(const PodMarks& marks, GangMark& to) {
  to.name = marks.annotation("pod-group-name");
  if (!to.name.empty()) to.role = marks.label_or_annotation("kai.scheduler/subgroup-name");
}

}  // namespace chipweave::sched::gangs
