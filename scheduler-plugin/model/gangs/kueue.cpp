#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// A group of plain pods; other jobs of Kueue carry the marks of their own framework. An annotation
// may name the label that numbers the pods.
void read_kueue(const PodMarks& marks, GangMark& to) {
  to.name = marks.label_or_annotation("kueue.x-k8s.io/pod-group-name");
  if (to.name.empty()) return;
  to.size = marks.number("kueue.x-k8s.io/pod-group-total-count", 1, to.problem);
  std::string label(marks.annotation("kueue.x-k8s.io/pod-group-pod-index-label"));
  if (label.empty()) label = "kueue.x-k8s.io/pod-group-pod-index";
  to.index = marks.number(label.c_str(), 0, to.problem);
}

}  // namespace chipweave::sched::gangs
