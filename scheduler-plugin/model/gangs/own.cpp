#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// For pods of any controller, or of none.
void read_own(const PodMarks& marks, GangMark& to) {
  to.name = marks.label_or_annotation("chipweave.dev/gang");
  if (to.name.empty()) return;
  to.role = marks.label_or_annotation("chipweave.dev/gang-role");
  to.index = marks.number("chipweave.dev/gang-index", 0, to.problem);
  to.size = marks.number("chipweave.dev/gang-size", 1, to.problem);
  to.sequential = marks.label_or_annotation("chipweave.dev/gang-sequential") == "true";
  to.minimum = marks.number("chipweave.dev/gang-minimum", 1, to.problem);
}

}  // namespace chipweave::sched::gangs
