#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

void read_grove(const PodMarks& marks, GangMark& to) { to.name = marks.label("grove.io/podgang"); }

}  // namespace chipweave::sched::gangs
