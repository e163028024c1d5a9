#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Ray ranks its workers itself.
void read_ray(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("ray.io/cluster");
  if (to.name.empty()) return;
  to.role = marks.label("ray.io/group");
  if (to.role.empty()) to.role = marks.label("ray.io/node-type");
}

}  // namespace chipweave::sched::gangs
