#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Its pod groups are the PodCliques.
void read_grove(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("grove.io/podgang");
  if (to.name.empty()) return;
  to.role = marks.label("grove.io/podclique");
  to.index = marks.number("grove.io/podclique-pod-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
