#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Jobs of Kubeflow's training-operator, MPIJobs among them.
void read_trainer(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("training.kubeflow.org/job-name");
  if (to.name.empty()) return;
  to.role = marks.label("training.kubeflow.org/replica-type");
  to.index = marks.number("training.kubeflow.org/replica-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
