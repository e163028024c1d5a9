#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Each group of a LeaderWorkerSet is a gang: the leader, index 0, and its workers.
void read_lws(const PodMarks& marks, GangMark& to) {
  const std::string_view set = marks.label("leaderworkerset.sigs.k8s.io/name");
  const std::string_view group = marks.label("leaderworkerset.sigs.k8s.io/group-index");
  if (set.empty() || group.empty()) return;
  to.name = std::string(set) + "/" + std::string(group);
  to.index = marks.number("leaderworkerset.sigs.k8s.io/worker-index", 0, to.problem);
  to.size = marks.number("leaderworkerset.sigs.k8s.io/size", 1, to.problem);
  // With startupPolicy LeaderReady, and with exclusive topologies, the leader comes first.
  to.sequential = true;
}

}  // namespace chipweave::sched::gangs
