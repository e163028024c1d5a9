#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// The PodGroup of scheduling.volcano.sh, whose minMember is the minimum; the role is a task of the
// Job.
void read_volcano(const PodMarks& marks, GangMark& to) {
  to.name = marks.annotation("scheduling.k8s.io/group-name");
  if (to.name.empty()) to.name = marks.annotation("scheduling.volcano.sh/group-name");
  to.role = marks.label_or_annotation("volcano.sh/task-spec");
  to.index = marks.number("volcano.sh/task-index", 0, to.problem);
  if (to.index || to.role.empty()) return;
  // Before Volcano 1.9 the index is only in the name of the pod, JOB-TASK-INDEX.
  to.index = marks.number_in_name(std::string(marks.label_or_annotation("volcano.sh/job-name")) +
                                  "-" + to.role);
}

}  // namespace chipweave::sched::gangs
