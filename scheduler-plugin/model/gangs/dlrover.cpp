#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// ElasticJobs. A pod that replaces another one has its rank-index, and a replica-index of its own.
void read_dlrover(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("elasticjob.dlrover/name");
  if (to.name.empty()) return;
  to.role = marks.label("elasticjob.dlrover/replica-type");
  to.index = marks.number("elasticjob.dlrover/rank-index", 0, to.problem);
  if (!to.index) to.index = marks.number("elasticjob.dlrover/replica-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
