#include "scheduler-plugin/app/gangs/gangs.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {

std::optional<Verdict> Gangs::find_place(const ClusterPod& pod,
                                         std::span<const std::string_view> nodes) {
  if (auto waits = places_.wait_for_owner(pod.request)) return waits;
  if (!places_.plans_for(pod.request)) return std::nullopt;
  places_.restored().restore();
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr) return std::nullopt;
  if (plans_.find(gang.id) == nullptr && !gang.complete())
    return GangPlanning::waits_for_pods(gang.name);
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  NodeSet offered = places_.offers().of(gang, nodes);
  // a gang may need more nodes than a sample has
  if (places_.offers().is_sample(offered)) offered.assign(nodes_.size(), true);
  places_.planning().planner().add_nodes_of_others(pod, offered);
  return places_.planning().plan(gang, pod.request.uid, std::move(offered));
}

std::optional<Verdict> Gangs::refuse_unseen(const PodRequest& pod) {
  if (!places_.may_plan_for(pod)) return std::nullopt;
  if (auto waits = places_.wait_for_owner(pod)) return waits;
  const Gang* gang = state_.gangs.find(gang_id(pod));
  if (gang != nullptr ? !plans(*gang) : state_.gangs.quorum_of(pod) == 0) return std::nullopt;
  if (unseen_.size() < kMaxUnseen) unseen_.insert(pod.uid);
  return GangPlanning::waits_for_pods(pod.mark->name);
}

bool Gangs::has_no_place(const PodRequest& pod) const {
  if (!places_.plans_for(pod)) return false;
  const GangPlans::Where at = plans_.of(pod.uid);
  return at.slot == nullptr || plans_.holding_of(*at.slot) == nullptr;
}

std::optional<Verdict> Gangs::find_another(const ClusterPod& pod,
                                           std::span<const std::string_view> nodes) {
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  // kube-scheduler asks for the nominated node alone first, then for others.
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  const Holding* own = ledger_.find(pod.request.uid);
  if (own != nullptr && places_.offers().are_elsewhere(gang, own->node, nodes))
    return gang_elsewhere();
  NodeSet offered = places_.offers().of(gang, nodes);
  if (own != nullptr && !offered[own->node] && places_.offers().is_sample(offered)) {
    // a nominated node is tried before others, unless the nomination came a moment ago
    const bool tried = pod.nominated == nodes_.node(own->node).name;
    const bool barred = !places_.planning().planner().may_run(pod, own->node);
    if (!barred && ++missed_[pod.request.uid] < (tried ? kMaxMissedNominated : kMaxMissed))
      return gang_elsewhere();
    // its scheduler rules the node out, or seems to
    const NodeId node = own->node;
    offered.assign(nodes_.size(), true);
    offered[node] = false;
  }
  missed_.erase(pod.request.uid);
  places_.planning().planner().add_nodes_of_others(pod, offered);
  // What else makes its scheduler rule a node out for one pod of a gang holds for the others.
  places_.lose_unusable(gang, offered);
  return places_.planning().plan(gang, pod.request.uid, std::move(offered));
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
  if (on() && gang->complete() && plans_.find(gang->id) == nullptr) ++state_.gathered;
}

void Gangs::gates_changed(const ClusterPod& pod) {
  const Gang* gang = state_.gangs.of(pod.request.uid);
  if (gang != nullptr && (pod.gated || gated_.contains(gang->id))) ++gated_[gang->id];
}

void Gangs::gate_opened(const std::string& gang) {
  if (const auto at = gated_.find(gang); at != gated_.end()) ++at->second;
}

bool Gangs::plan_gated(const Gang& gang) {
  (void)places_.planning().plan(gang, {}, NodeSet(nodes_.size(), true));
  return plans_.find(gang.id) != nullptr;
}

void Gangs::assign_gated(const Gang& gang) {
  for (const ClusterPod* pod : places_.planning().pods_of(gang))
    plans_.assign(pod->request, gang.id);
  places_.lose_unusable(gang, NodeSet(nodes_.size(), true));
}

void Gangs::owner_says(const std::string& id, std::optional<GangSpec> spec) {
  if (spec) places_.owner_came(id);
  const Gang* gang = state_.gangs.set_spec(id, std::move(spec));
  if (gang != nullptr && gang->complete() && plans_.find(id) == nullptr) ++state_.gathered;
}

void Gangs::gone(const PodRequest& pod) {
  missed_.erase(pod.uid);
  unseen_.erase(pod.uid);
  strays_.erase(pod.uid);
  sessions_.taken_back(pod);
  plans_.leave(pod.uid);
  const std::string id = state_.gangs.remove(pod.uid);
  if (id.empty() || state_.gangs.find(id) != nullptr) return;
  plans_.release(id);
  places_.planning().end_spares(id);
  places_.planning().forget(id);
  sessions_.forget(id);
  gated_.erase(id);
}

void Gangs::tick() {
  report_overdue();
  places_.tick();
  if (places_.planning().take_retry()) ++state_.gathered;
  for (const std::string& id : plans_.due(clock_.now())) {
    const GangPlan& plan = *plans_.find(id);
    if (const Gang* gang = state_.gangs.find(id))
      observer_.on(GangReleased{ref_of(*gang), plan.id});
    plans_.release(id);
    ++state_.freed;
  }
  places_.planning().keep_spares();
}

// Once for each gang: pods that were too few for kOverdue are reported.
void Gangs::report_overdue() {
  if (!on() || !authority_.cannot_decide().empty()) return;
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
  places_.planning().clear();
  places_.restored().end_term();
  sessions_.step_down();
  nominations_.step_down();
}

}  // namespace chipweave::sched
