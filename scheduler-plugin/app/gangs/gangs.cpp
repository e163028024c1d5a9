#include "scheduler-plugin/app/gangs/gangs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/natural_order.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

// Those whose pod has rank 0 by the frameworks' conventions.
bool is_leader(std::string_view role) {
  constexpr std::array<std::string_view, 6> kLeaders{"master",   "chief", "leader",
                                                     "launcher", "head",  "scheduler"};
  return std::any_of(kLeaders.begin(), kLeaders.end(), [&](std::string_view leader) {
    return std::equal(role.begin(), role.end(), leader.begin(), leader.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  });
}

// The order of ranks: leaders, then the other roles, each by its index.
bool ranks_before(const ClusterPod& a, const ClusterPod& b) {
  const GangMark& x = *a.request.mark;
  const GangMark& y = *b.request.mark;
  if (x.role != y.role) {
    if (is_leader(x.role) != is_leader(y.role)) return is_leader(x.role);
    return natural_less(x.role, y.role);
  }
  if (x.index != y.index) return x.index && (!y.index || *x.index < *y.index);
  return natural_less(a.request.key.name, b.request.key.name);
}

Verdict waits_for_pods(const Gang& gang) {
  return rejected(Cause::gang, Remedy::unresolvable,
                  "waiting for the other pods of gang " + gang.name);
}

Verdict waits_for_room(const Gang& gang) {
  return rejected(Cause::gang, Remedy::unresolvable, "no room for all pods of gang " + gang.name);
}

// Eight hexadecimal digits (FNV-1a) that differ between the plans of a gang.
std::string plan_id(const Gang& gang, Clock::Wall now) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(gang.id);
  add(std::to_string(now.time_since_epoch().count()));
  for (const auto& [uid, key] : gang.members) add(uid);
  std::string out;
  for (int digit = 0; digit < 8; ++digit)
    out += "0123456789abcdef"[(hash >> (60 - 4 * digit)) & 15U];
  return out;
}

}  // namespace

// A group has one node, and for its own gangs kube-scheduler tries all pods itself.
bool Gangs::plans_for(const PodRequest& pod) const {
  if (pod.mark == nullptr || pod.chips == 0 || is_member(pod) || !pod.gang.empty()) return false;
  const Gang* gang = state_.gangs.of(pod.uid);
  return gang != nullptr && gang->quorum() > 0;
}

std::optional<Verdict> Gangs::find_place(const ClusterPod& pod,
                                         std::span<const std::string_view> nodes) {
  if (!plans_for(pod.request)) return std::nullopt;
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr) return std::nullopt;
  if (plans_.find(gang.id) == nullptr && !gang.complete()) return waits_for_pods(gang);
  return plan(gang, pod.request.uid, set_of(nodes));
}

std::optional<Verdict> Gangs::find_another(const ClusterPod& pod,
                                           std::span<const std::string_view> nodes) {
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  NodeSet offered = set_of(nodes);
  // All pods of a gang are alike to their scheduler, so what holds for this one holds for them.
  std::vector<std::string> lost;
  for (const GangSlot& slot : plans_.find(gang.id)->slots) {
    const Holding* held = plans_.holding_of(slot);
    if (held == nullptr || held->bound || slot.uid.empty()) continue;
    const Node& node = nodes_.node(held->node);
    const bool whole = held->unreported.empty() &&
                       !held->chips.intersects(node.unhealthy | node.network_unhealthy);
    if (!offered[held->node] || node.stale || node.closed() || !whole) lost.push_back(slot.uid);
  }
  for (const std::string& uid : lost) plans_.lose(uid);
  return plan(gang, pod.request.uid, std::move(offered));
}

NodeSet Gangs::set_of(std::span<const std::string_view> nodes) {
  NodeSet out(nodes_.size());
  nodes_.find_all(nodes, found_);
  for (const NodeId id : found_) {
    if (id != kNoNode) out[id] = true;
  }
  return out;
}

Gangs::Misfit Gangs::tried(const Gang& gang, NodeSet offered) const {
  return {{},
          gang.changes,
          ledger_.released(),
          nodes_.gains(),
          state_.network.version(),
          std::move(offered)};
}

std::optional<Verdict> Gangs::plan(const Gang& gang, const std::string& uid, NodeSet offered) {
  Misfit now = tried(gang, std::move(offered));
  const auto before = misfits_.find(gang.id);
  if (before != misfits_.end()) {
    now.reason = before->second.reason;
    if (now == before->second) return waits_for_room(gang);
  }
  const auto begin = clock_.now();
  lay_out(gang);
  std::string reason;
  Filled filled = fill(gang, now.offered, reason);
  if (filled == Filled::none) {
    plans_.release(gang.id);
    lay_out(gang);
    filled = fill(gang, now.offered, reason);
    if (filled == Filled::none) plans_.release(gang.id);
  }
  if (filled == Filled::all || filled == Filled::some) {
    const GangPlan& made = *plans_.find(gang.id);
    observer_.on(GangPlanned{gang.ns, gang.name, made.id, made.slots.size(), made.domains,
                             made.gbps, clock_.now() - begin});
  }
  if (filled == Filled::all) {
    misfits_.erase(gang.id);
    return std::nullopt;
  }
  now.reason = std::move(reason);
  now.released = ledger_.released();
  if (filled == Filled::none) observer_.on(GangUnplaceable{gang.ns, gang.name, now.reason});
  misfits_.insert_or_assign(gang.id, std::move(now));
  const GangPlans::Where at = plans_.of(uid);
  const bool placed = at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr;
  return placed ? std::nullopt : std::optional(waits_for_room(gang));
}

const ClusterPod* Gangs::member(const std::string& uid, const PodKey& key) const {
  const ClusterPod* pod = cluster_.find(key);
  const bool counts = pod != nullptr && pod->request.uid == uid && pod->request.chips > 0 &&
                      pod->refused.empty() && !pod->ending && pod->request.mark != nullptr;
  return counts ? pod : nullptr;
}

void Gangs::lay_out(const Gang& gang) {
  std::vector<const ClusterPod*> pods;
  for (const auto& [uid, key] : gang.members) {
    if (const ClusterPod* pod = member(uid, key)) pods.push_back(pod);
  }
  std::sort(pods.begin(), pods.end(),
            [](const ClusterPod* a, const ClusterPod* b) { return ranks_before(*a, *b); });
  if (plans_.find(gang.id) == nullptr) {
    GangPlan plan;
    plan.id = plan_id(gang, clock_.wall());
    plan.gang = gang.id;
    plan.ns = gang.ns;
    plan.framework = gang.framework;
    plan.name = gang.name;
    plans_.begin(std::move(plan));
  }
  for (const ClusterPod* pod : pods) {
    const PodRequest& request = pod->request;
    if (plans_.assign(request, gang.id).slot != nullptr) continue;
    plans_.add_slot(gang.id,
                    {request.mark->role, request.mark->index, 0, request.chips, request.uid, {}});
  }
}

Gangs::Filled Gangs::fill(const Gang& gang, const NodeSet& offered, std::string& reason) {
  const GangPlan& plan = *plans_.find(gang.id);
  GangToPlan wanted;
  wanted.offered = &offered;
  std::vector<std::pair<std::size_t, const ClusterPod*>> open;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const GangSlot& slot = plan.slots[i];
    if (const Holding* held = plans_.holding_of(slot)) {
      wanted.placed.push_back({held->node, held->chips, slot.rank});
      continue;
    }
    const auto key = gang.members.find(slot.uid);
    const ClusterPod* pod = key == gang.members.end() ? nullptr : member(key->first, key->second);
    if (pod == nullptr || !pod->node.empty()) continue;
    if (wanted.resource.empty()) {
      wanted.resource = pod->request.resource;
      wanted.objective = pod->request.objective;
    }
    if (pod->request.resource != wanted.resource) {
      reason = "its pods request " + wanted.resource + " and " + pod->request.resource +
               "; a gang can have only one kind of chips";
      return Filled::none;
    }
    reservations_.withdraw(slot.uid);
    wanted.pods.push_back({slot.chips, pod->request.needs});
    open.emplace_back(i, pod);
  }
  if (open.empty()) return Filled::all;
  const std::size_t there = wanted.placed.size();
  const auto quorum = static_cast<std::size_t>(gang.quorum());
  wanted.minimum = static_cast<int>(std::min(quorum, there + open.size()));
  const GangPlacement placed = planner_.plan(wanted);
  reason = placed.reason;
  if (!placed.fits) return there > 0 && there >= quorum ? Filled::nothing_more : Filled::none;
  GangPlan result;
  result.domains = placed.domains;
  result.gbps = placed.gbps;
  result.optimal = placed.optimal;
  result.made = clock_.now();
  plans_.renew(gang.id, result);
  bool all = true;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const GangPlacement::Place& place = placed.pods[i];
    all = all && place.node != kNoNode;
    if (place.node != kNoNode)
      plans_.hold(gang.id, open[i].first, place.node, place.chips, &open[i].second->request);
  }
  if (!all) reason = "there is no room for more of its pods";
  return all ? Filled::all : Filled::some;
}

void Gangs::added(const PodRequest& pod) {
  const Gang* before = state_.gangs.of(pod.uid);
  const std::string was = before == nullptr ? std::string() : before->id;
  const Gang* gang = state_.gangs.add(pod);
  if (!was.empty() && (gang == nullptr || gang->id != was)) plans_.lose(pod.uid);
  if (gang != nullptr && gang->complete() && plans_.find(gang->id) == nullptr) ++state_.gathered;
}

void Gangs::gone(const PodRequest& pod) {
  plans_.leave(pod.uid);
  const std::string id = state_.gangs.remove(pod.uid);
  if (id.empty() || state_.gangs.find(id) != nullptr) return;
  plans_.release(id);
  misfits_.erase(id);
}

void Gangs::tick() {
  for (const std::string& id : plans_.due(clock_.now())) {
    const GangPlan& plan = *plans_.find(id);
    observer_.on(GangReleased{plan.ns, plan.name, plan.id});
    plans_.release(id);
    ++state_.freed;
  }
}

void Gangs::step_down() {
  plans_.end_all();
  misfits_.clear();
}

std::string Gangs::why_not(const std::string& gang) const {
  const auto misfit = misfits_.find(gang);
  return misfit == misfits_.end() ? "" : misfit->second.reason;
}

}  // namespace chipweave::sched
