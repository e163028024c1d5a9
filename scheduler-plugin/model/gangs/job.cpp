#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

void read_job(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("batch.kubernetes.io/job-name");
  if (to.name.empty()) to.name = marks.label("job-name");
  if (to.name.empty()) return;
  to.index = marks.number("batch.kubernetes.io/job-completion-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
