#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// spec.schedulingGroup of Kubernetes 1.36, spec.workloadRef of 1.35.
void read_native(const PodMarks& marks, GangMark& to) {
  const PodRequest& pod = marks.pod();
  const std::string prefix = pod.key.ns + "/";
  if (pod.gang.starts_with(prefix)) to.name = pod.gang.substr(prefix.size());
}

}  // namespace chipweave::sched::gangs
