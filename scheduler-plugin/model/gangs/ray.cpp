#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Ray ranks its workers itself. KubeRay counts replicas; the hosts of one have the same number.
void read_ray(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("ray.io/cluster");
  if (to.name.empty()) return;
  to.role = marks.label("ray.io/group");
  if (to.role.empty()) to.role = marks.label("ray.io/node-type");
  if (marks.label("ray.io/replica-host-index").empty())
    to.index = marks.number("ray.io/worker-group-replica-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
