#include "scheduler-plugin/app/gangs/planning/gang_places.hpp"

#include <string>
#include <vector>

#include "scheduler-plugin/model/gangs/frameworks.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {

// Pods may also be in a group of ACK, or in a gang of kube-scheduler, beside the gang that counts.
bool GangPlaces::may_plan_for(const PodRequest& pod) const {
  if (!on_ || pod.mark == nullptr || pod.chips == 0 || is_member(pod)) return false;
  const gangs::Framework* framework = gangs::framework_called(pod.mark->framework);
  return pod.gang.empty() || (framework != nullptr && framework->native);
}

bool GangPlaces::plans_for(const PodRequest& pod) const {
  if (!may_plan_for(pod)) return false;
  const Gang* gang = state_.gangs.of(pod.uid);
  return gang != nullptr && plans(*gang);
}

bool GangPlaces::is_usable(const Holding& held) const {
  const Node& node = nodes_.node(held.node);
  return node.has_inventory() && held.unreported.empty() && !node.stale && !node.closed() &&
         !held.chips.intersects(node.unhealthy | node.network_unhealthy);
}

bool GangPlaces::lose_unusable(const Gang& gang, const NodeSet& offered) {
  const GangPlan* plan = plans_.find(gang.id);
  if (plan == nullptr) return false;
  std::vector<std::string> lost;
  for (const GangSlot& slot : plan->slots) {
    const Holding* held = plans_.holding_of(slot);
    if (held == nullptr || held->bound || slot.uid.empty()) continue;
    const ClusterPod* pod = planning_.pod_of(gang, slot);
    const bool may_run = pod == nullptr || planning_.planner().may_run(*pod, held->node);
    if (!offered[held->node] || !may_run || !is_usable(*held)) lost.push_back(slot.uid);
  }
  for (const std::string& uid : lost) plans_.lose(uid);
  return !lost.empty();
}

}  // namespace chipweave::sched
