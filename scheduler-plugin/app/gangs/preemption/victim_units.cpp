#include "scheduler-plugin/app/gangs/preemption/victim_units.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "scheduler-plugin/app/gangs/planning/gang_planning.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kTwoBudgets = 2;

NodeUse use_of(const ClusterPod& pod) { return {pod.others.milli_cpu, pod.others.memory}; }

// Pods of a Job of which nothing says that they start together work each for itself.
bool is_whole(const Gang& gang) {
  return gang.members.size() > 1 && (gang.quorum() > 0 || gang.framework != "job");
}

// By uid: the budgets that cover the pod.
using Covered = std::unordered_map<std::string, std::vector<std::size_t>>;

Covered covered_by(const std::vector<DisruptionBudget>& budgets) {
  Covered out;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    for (const std::string& uid : budgets[i].pods) out[uid].push_back(i);
  }
  return out;
}

// Counts the unit's pods by budget. False: they may not be evicted, whatever else is.
bool count_covered(VictimUnit& unit, const Covered& covered,
                   const std::vector<DisruptionBudget>& budgets) {
  std::map<std::size_t, int> counts;
  for (const VictimPod& pod : unit.pods) {
    const auto of = covered.find(pod.uid);
    if (of == covered.end()) continue;
    if (of->second.size() >= kTwoBudgets) return false;
    ++counts[of->second.front()];
  }
  unit.covered.assign(counts.begin(), counts.end());
  return std::all_of(counts.begin(), counts.end(),
                     [&](const auto& one) { return one.second <= budgets[one.first].allowed; });
}

}  // namespace

void FreedSum::add(NodeId node, ChipSet chips, const NodeUse& use) {
  Sum& sum = sums_[node];
  sum.chips |= chips;
  sum.use += use;
}

void FreedSum::add(const VictimUnit& unit) {
  for (const VictimPod& pod : unit.pods) add(pod.node, pod.chips, pod.use);
}

void FreedSum::add(const KeptChips::ByNode& kept) {
  for (const auto& [node, chips] : kept) add(node, chips, {});
}

FreedOnNodes FreedSum::result(const SchedulerState& state) const {
  FreedOnNodes out;
  for (const auto& [node, sum] : sums_) {
    out.emplace(node, ToComeFree{sum.chips & state.nodes.node(node).topology.all(),
                                 state.rooms.room_without(node, sum.use)});
  }
  return out;
}

// Null unless it is the pod's own, the pod is bound, and its chips are known and not shared.
const ClusterPod* VictimUnits::bound_pod(const Holding& holding) const {
  if (!holding.bound || holding.parts || holding.assumed) return nullptr;
  const ClusterPod* pod = cluster_.find(holding.key);
  const bool same = pod != nullptr && pod->request.uid == holding.uid &&
                    pod->node == nodes_.node(holding.node).name &&
                    records_.being_bound(holding.uid) == nullptr;
  return same ? pod : nullptr;
}

VictimPod VictimUnits::victim_of(const Holding& holding, const ClusterPod& pod) const {
  const Node& node = nodes_.node(holding.node);
  return {holding.key, holding.uid, holding.node,
          holding.chips - node.unhealthy - node.network_unhealthy, use_of(pod)};
}

void VictimUnits::add_to(VictimUnit& unit, const Holding& holding, const ClusterPod& pod) const {
  unit.pods.push_back(victim_of(holding, pod));
  unit.chips += static_cast<std::size_t>(unit.pods.back().chips.size());
  unit.priority = unit.pods.size() == 1 ? pod.priority : std::max(unit.priority, pod.priority);
  unit.sum += pod.priority;
}

// nullopt: it may not end, or nothing comes free with it.
std::optional<VictimUnit> VictimUnits::gang_unit(const Gang& victim, int priority) const {
  if (const GangPlan* plan = plans_.find(victim.id)) {
    for (const GangSlot& slot : plan->slots) {
      const Holding* held = plans_.holding_of(slot);
      if (held != nullptr && !held->bound) return std::nullopt;
    }
  }
  VictimUnit unit;
  unit.gang = ref_of(victim);
  bool ending = false;
  std::size_t running = 0;
  for (const auto& [uid, key] : victim.members) {
    const ClusterPod* member = cluster_.find(key);
    if (member == nullptr || member->request.uid != uid) continue;
    if (member->priority >= priority) return std::nullopt;
    ending = ending || member->ending;
    if (member->ending) continue;
    running += member->node.empty() ? 0 : 1;
    const Holding* held = ledger_.find(uid);
    if (held == nullptr) continue;
    if (bound_pod(*held) == nullptr) return std::nullopt;
    add_to(unit, *held, *member);
  }
  if (unit.chips == 0) return std::nullopt;
  const int quorum = victim.quorum();
  unit.breaks_gang = quorum > 0 ? running >= static_cast<std::size_t>(quorum) : !ending;
  return unit;
}

std::vector<VictimUnit> VictimUnits::candidates(
    const Gang& gang, int priority, const std::string& resource,
    const std::vector<DisruptionBudget>& budgets) const {
  std::vector<VictimUnit> found;
  std::set<std::string_view> seen;  // gangs
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    if (std::find(node.resources.begin(), node.resources.end(), resource) == node.resources.end())
      continue;
    for (const Holding* held : ledger_.on(id)) {
      const Gang* of = state_.gangs.of(held->uid);
      if (of != nullptr && (of->id == gang.id || (is_whole(*of) && !seen.insert(of->id).second)))
        continue;
      const ClusterPod* pod = bound_pod(*held);
      if (of != nullptr && is_whole(*of)) {
        if (auto unit = gang_unit(*of, priority)) found.push_back(*std::move(unit));
      } else if (pod != nullptr && !pod->ending && pod->priority < priority) {
        VictimUnit unit;
        add_to(unit, *held, *pod);
        if (unit.chips > 0) found.push_back(std::move(unit));
      }
    }
  }
  const Covered covered = covered_by(budgets);
  std::erase_if(found, [&](VictimUnit& unit) { return !count_covered(unit, covered, budgets); });
  return found;
}

FreedSum VictimUnits::coming_free(int priority) const {
  FreedSum out;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    for (const Holding* held : ledger_.on(id)) {
      const ClusterPod* pod = bound_pod(*held);
      if (pod == nullptr || !pod->ending) continue;
      out.add(id, victim_of(*held, *pod).chips - nominations_.expected(id, {}, priority),
              use_of(*pod));
    }
  }
  return out;
}

bool VictimUnits::holds(const VictimPod& pod) const {
  const Holding* held = ledger_.find(pod.uid);
  const ClusterPod* now = held == nullptr ? nullptr : bound_pod(*held);
  return now != nullptr && held->node == pod.node && held->chips.contains(pod.chips);
}

bool VictimUnits::ends(const VictimPod& pod) const {
  const ClusterPod* now = cluster_.find(pod.key);
  return now == nullptr || now->request.uid != pod.uid || now->ending;
}

std::set<std::string> VictimUnits::namespaces_below(int priority) const {
  std::set<std::string> out;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    for (const Holding* held : ledger_.on(id)) {
      const ClusterPod* pod = bound_pod(*held);
      if (pod != nullptr && pod->priority < priority) out.insert(pod->request.key.ns);
    }
  }
  return out;
}

}  // namespace chipweave::sched
