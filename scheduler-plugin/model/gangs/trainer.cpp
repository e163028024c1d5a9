#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Jobs of Kubeflow's training-operator and of its mpi-operator. The latter names the role in
// another label; it counts workers from 1 where the launcher is a worker, but not in their names.
void read_trainer(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("training.kubeflow.org/job-name");
  if (to.name.empty()) return;
  to.role = marks.label("training.kubeflow.org/replica-type");
  if (to.role.empty()) {
    to.role = marks.label("training.kubeflow.org/job-role");
    to.index = marks.number_in_name(to.name + "-" + to.role);
  }
  if (!to.index) to.index = marks.number("training.kubeflow.org/replica-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
