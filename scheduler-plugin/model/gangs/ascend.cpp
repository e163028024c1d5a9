#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// The gang is another framework's; ascend-operator numbers all of its pods.
void read_ascend(const PodMarks& marks, GangMark& to) {
  to.index = marks.number("hccl/rankIndex", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
