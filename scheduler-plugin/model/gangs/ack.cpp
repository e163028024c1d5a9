#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// A group has both labels, and all of its pods start together on one node.
void read_ack(const PodMarks& marks, GangMark& to) {
  const std::string_view replica = marks.label("gpu-topology-replica");
  if (replica.empty()) return;
  to.name = marks.label("gpu-topology");
  if (!to.name.empty()) to.size = marks.number("gpu-topology-replica", 1, to.problem);
}

}  // namespace chipweave::sched::gangs
