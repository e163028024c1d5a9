#include "scheduler-plugin/app/gangs/planning/gang_places.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
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

std::optional<Verdict> GangPlaces::wait_for_owner(const PodRequest& pod) {
  if (!may_plan_for(pod)) return std::nullopt;
  if (std::find(awaited_.begin(), awaited_.end(), pod.mark->framework) == awaited_.end())
    return std::nullopt;
  const std::string id = gang_id(pod);
  if (state_.gangs.has_owner(id)) return std::nullopt;
  const Gang* gang = state_.gangs.find(id);
  const bool known = gang != nullptr ? gang->quorum() > 0 || gang->size_known()
                                     : pod.mark->size || state_.gangs.quorum_of(pod) > 0;
  if (known) return std::nullopt;
  const auto now = clock_.now();
  const auto at = waiting_.find(id);
  if (at == waiting_.end()) {
    if (waiting_.size() >= kMaxWaiting) return std::nullopt;
    waiting_.emplace(id, OwnerAwaited{now, false});
  } else if (now - at->second.since >= kOwnerComes) {
    return std::nullopt;
  }
  return rejected(Cause::gang, Remedy::unresolvable,
                  "waiting for the owner object of gang " + pod.mark->name);
}

void GangPlaces::owner_came(const std::string& gang) {
  if (waiting_.erase(gang) > 0) ++state_.gathered;
}

void GangPlaces::tick() {
  const auto now = clock_.now();
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    OwnerAwaited& one = at->second;
    if (!one.over && now - one.since >= kOwnerComes) {
      one.over = true;
      ++state_.gathered;
    }
    // no watch has shown its pods by now: none will come
    const bool gone = one.over && state_.gangs.find(at->first) == nullptr;
    at = gone ? waiting_.erase(at) : std::next(at);
  }
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
