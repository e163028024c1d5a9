// Pods that were rejected: whether there is room for one of them now.
#include <set>
#include <tuple>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

std::string Scheduler::room_for_rejected() {
  using Kind = std::tuple<std::string, int, std::string, bool, const void*>;
  std::set<Kind> seen;
  std::set<Kind> room;
  std::string node;
  const auto kind_of = [](const ClusterPod& pod, const Look& look) {
    return Kind{pod.ask.resource, pod.ask.chips, job_identity(pod.ask), pod.ask.distributed,
                look.offered.get()};
  };
  for (auto& [uid, look] : looks_) {
    if (look.node != kNoNode || look.woken || look.offered == nullptr) continue;
    const ClusterPod* pod = cluster_.find(look.pod);
    if (pod == nullptr || pod->ask.uid != uid || !pod->node.empty()) continue;
    const Kind kind = kind_of(*pod, look);
    if (room.contains(kind)) look.woken = true;
    if (seen.size() >= kMaxKinds || !seen.insert(kind).second) continue;
    std::vector<std::string_view> names;
    for (const NodeId id : *look.offered) {
      if (id != kNoNode) names.push_back(nodes_.node(id).name);
    }
    this->look(want_of(pod->ask, nullptr), names);
    if (survey_.best_node == kNoNode) continue;
    if (node.empty()) node = nodes_.node(survey_.best_node).name;
    look.woken = true;
    room.insert(kind);
  }
  return node;
}

void Scheduler::wake_again() {
  for (auto& [uid, look] : looks_) look.woken = false;
}

}  // namespace chipweave::sched
