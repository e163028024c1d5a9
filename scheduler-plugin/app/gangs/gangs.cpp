#include "scheduler-plugin/app/gangs/gangs.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {

// Pods may also be in a group of ACK, or in a gang of kube-scheduler, beside the gang that counts.
bool Gangs::may_plan_for(const PodRequest& pod) const {
  return on_ && pod.mark != nullptr && pod.chips > 0 && !is_member(pod) &&
         (pod.gang.empty() || pod.mark->framework == "kubernetes");
}

bool Gangs::plans_for(const PodRequest& pod) const {
  if (!may_plan_for(pod)) return false;
  const Gang* gang = state_.gangs.of(pod.uid);
  return gang != nullptr && plans(*gang);
}

std::optional<Verdict> Gangs::find_place(const ClusterPod& pod,
                                         std::span<const std::string_view> nodes) {
  if (!plans_for(pod.request)) return std::nullopt;
  restored_.restore();
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr) return std::nullopt;
  if (plans_.find(gang.id) == nullptr && !gang.complete())
    return GangPlanning::waits_for_pods(gang.name);
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  NodeSet offered = offers_.of(gang, nodes);
  // a gang may need more nodes than a sample has
  if (offers_.is_sample(offered)) offered.assign(nodes_.size(), true);
  return planning_.plan(gang, pod.request.uid, std::move(offered));
}

std::optional<Verdict> Gangs::refuse_unseen(const PodRequest& pod) {
  if (!may_plan_for(pod)) return std::nullopt;
  const Gang* gang = state_.gangs.find(gang_id(pod));
  if (gang != nullptr ? !plans(*gang) : GangTable::quorum_of(pod) == 0) return std::nullopt;
  if (unseen_.size() < kMaxUnseen) unseen_.insert(pod.uid);
  return GangPlanning::waits_for_pods(pod.mark->name);
}

bool Gangs::has_no_place(const PodRequest& pod) const {
  if (!plans_for(pod)) return false;
  const GangPlans::Where at = plans_.of(pod.uid);
  return at.slot == nullptr || plans_.holding_of(*at.slot) == nullptr;
}

std::optional<Verdict> Gangs::find_another(const ClusterPod& pod,
                                           std::span<const std::string_view> nodes) {
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  // kube-scheduler asks for the nominated node alone first, then for others.
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  const Holding* own = ledger_.find(pod.request.uid);
  if (own != nullptr && offers_.are_elsewhere(gang, own->node, nodes)) return gang_elsewhere();
  NodeSet offered = offers_.of(gang, nodes);
  if (own != nullptr && !offered[own->node] && offers_.is_sample(offered)) {
    // a nominated node is tried before others, unless the nomination came a moment ago
    const bool tried = pod.nominated == nodes_.node(own->node).name;
    if (++missed_[pod.request.uid] < (tried ? kMaxMissedNominated : kMaxMissed))
      return gang_elsewhere();
    // its scheduler seems to rule the node out
    const NodeId node = own->node;
    offered.assign(nodes_.size(), true);
    offered[node] = false;
  }
  missed_.erase(pod.request.uid);
  // All pods of a gang are alike to their scheduler, so what holds for this one holds for them.
  lose_unusable(gang, offered);
  return planning_.plan(gang, pod.request.uid, std::move(offered));
}

bool Gangs::is_usable(const Holding& held) const {
  const Node& node = nodes_.node(held.node);
  return node.has_inventory() && held.unreported.empty() && !node.stale && !node.closed() &&
         !held.chips.intersects(node.unhealthy | node.network_unhealthy);
}

// Pods that are not bound lose places that are not offered, or cannot be used. False: none does.
bool Gangs::lose_unusable(const Gang& gang, const NodeSet& offered) {
  const GangPlan* plan = plans_.find(gang.id);
  if (plan == nullptr) return false;
  std::vector<std::string> lost;
  for (const GangSlot& slot : plan->slots) {
    const Holding* held = plans_.holding_of(slot);
    if (held == nullptr || held->bound || slot.uid.empty()) continue;
    if (!offered[held->node] || !is_usable(*held)) lost.push_back(slot.uid);
  }
  for (const std::string& uid : lost) plans_.lose(uid);
  return !lost.empty();
}

std::optional<Verdict> Gangs::find_place_in_session(const ClusterPod& pod, NodeId node) {
  if (!plans_for(pod.request)) return std::nullopt;
  restored_.restore();
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const bool round = sessions_.asked(gang.id, pod.request, node);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (plans_.find(gang.id) == nullptr && !gang.complete())
    return GangPlanning::waits_for_pods(gang.name);
  const Holding* own = at.slot == nullptr ? nullptr : plans_.holding_of(*at.slot);
  const bool good = own != nullptr && is_usable(*own);
  if (good && !round) return std::nullopt;
  NodeSet offered(nodes_.size(), true);
  sessions_.limit(gang.id, offered);
  if (!lose_unusable(gang, offered) && good) return std::nullopt;
  return planning_.plan(gang, pod.request.uid, std::move(offered));
}

std::vector<NodeId> Gangs::alike_among(const PodRequest& pod, std::span<const NodeId> nodes) const {
  std::vector<NodeId> out;
  for (const NodeId node : nodes) {
    if (node != kNoNode && !plans_.alike_on(pod.uid, node).empty()) out.push_back(node);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<void> Gangs::place_in_session(const ClusterPod& pod, NodeId node) {
  if (!plans_for(pod.request)) return {};
  if (const auto waits = find_place_in_session(pod, kNoNode)) {
    return make_error(Errc::conflict, waits->reason);
  }
  const std::string& gang = state_.gangs.of(pod.request.uid)->id;
  auto placed = sessions_.place(gang, pod.request, node);
  if (placed) sessions_.placed(gang, pod.request.uid);
  return placed;
}

void Gangs::taken_back(const PodRequest& pod) {
  if (const Gang* gang = state_.gangs.of(pod.uid)) sessions_.taken_back(gang->id, pod.uid);
}

Result<void> Gangs::settle(const PodRequest& pod, NodeId node) {
  auto there = would_settle(pod, node);
  if (!there) return std::move(there).error();
  if (*there != nullptr && (*there)->uid != pod.uid) plans_.exchange(pod.uid, (*there)->uid);
  return {};
}

// Schedulers that never ask chipweave choose any node.
Result<const Holding*> Gangs::would_settle(const PodRequest& pod, NodeId node) const {
  const Holding* own = ledger_.find(pod.uid);
  if (!plans_for(pod) || own == nullptr || !own->planned || own->bound) return nullptr;
  const std::string& gang = state_.gangs.of(pod.uid)->id;
  const Holding* there = sessions_.would_place(gang, pod, node);
  if (there == nullptr && sessions_.knows(gang)) return sessions_.refusal(pod, node);
  return there;
}

void Gangs::added(const ClusterPod& pod) {
  const PodRequest& request = pod.request;
  const Gang* before = state_.gangs.of(request.uid);
  const std::string was = before == nullptr ? std::string() : before->id;
  const Gang* gang = state_.gangs.add(request);
  if (!was.empty() && (gang == nullptr || gang->id != was)) {
    plans_.lose(request.uid);
    plans_.leave(request.uid);
  }
  if (gang == nullptr) {
    if (pod.gated) strays_.emplace(request.uid, request.key);
    return;
  }
  strays_.erase(request.uid);
  if (pod.gated) ++gated_[gang->id];
  if (unseen_.erase(request.uid) > 0) ++state_.gathered;
  if (on_ && gang->complete() && plans_.find(gang->id) == nullptr) ++state_.gathered;
}

void Gangs::gates_changed(const ClusterPod& pod) {
  const Gang* gang = state_.gangs.of(pod.request.uid);
  if (gang != nullptr && (pod.gated || gated_.contains(gang->id))) ++gated_[gang->id];
}

void Gangs::gate_opened(const std::string& gang) {
  if (const auto at = gated_.find(gang); at != gated_.end()) ++at->second;
}

bool Gangs::plan_gated(const Gang& gang) {
  (void)planning_.plan(gang, {}, NodeSet(nodes_.size(), true));
  return plans_.find(gang.id) != nullptr;
}

void Gangs::assign_gated(const Gang& gang) {
  for (const ClusterPod* pod : planning_.pods_of(gang)) plans_.assign(pod->request, gang.id);
  lose_unusable(gang, NodeSet(nodes_.size(), true));
}

void Gangs::owner_says(const std::string& id, std::optional<GangSpec> spec) {
  const Gang* gang = state_.gangs.set_spec(id, std::move(spec));
  if (gang != nullptr && gang->complete() && plans_.find(id) == nullptr) ++state_.gathered;
}

void Gangs::gone(const PodRequest& pod) {
  missed_.erase(pod.uid);
  unseen_.erase(pod.uid);
  strays_.erase(pod.uid);
  taken_back(pod);
  plans_.leave(pod.uid);
  const std::string id = state_.gangs.remove(pod.uid);
  if (id.empty() || state_.gangs.find(id) != nullptr) return;
  plans_.release(id);
  planning_.end_spares(id);
  planning_.forget(id);
  sessions_.forget(id);
  gated_.erase(id);
}

void Gangs::tick() {
  report_overdue();
  if (planning_.take_retry()) ++state_.gathered;
  for (const std::string& id : plans_.due(clock_.now())) {
    const GangPlan& plan = *plans_.find(id);
    if (const Gang* gang = state_.gangs.find(id))
      observer_.on(GangReleased{ref_of(*gang), plan.id});
    plans_.release(id);
    ++state_.freed;
  }
  planning_.keep_spares();
}

// Once for each gang: pods that were too few for kOverdue are reported.
void Gangs::report_overdue() {
  if (!on_ || !authority_.cannot_decide().empty()) return;
  const auto now = clock_.now();
  std::erase_if(incomplete_, [&](const auto& one) {
    const Gang* gang = state_.gangs.find(one.first);
    return gang == nullptr || gang->complete();
  });
  for (const auto& [id, gang] : state_.gangs.all()) {
    if (!plans(gang) || gang.complete() || plans_.find(id) != nullptr) continue;
    Incomplete& one = incomplete_.try_emplace(id, Incomplete{now, false}).first->second;
    if (one.reported || now - one.since < kOverdue) continue;
    one.reported = true;
    observer_.on(GangOverdue{ref_of(gang), gang.members.size(), gang.quorum()});
  }
}

void Gangs::step_down() {
  plans_.end_all();
  planning_.clear();
  restored_.end_term();
  sessions_.step_down();
  nominations_.step_down();
}

}  // namespace chipweave::sched
