#include "scheduler-plugin/app/gangs/gang_planner.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/chips/legal_split.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"

namespace chipweave::sched {
namespace {

using solver::Fabric;
using solver::FabricNodeId;

constexpr std::size_t kMaxLegal = 16384;  // remembered counts
constexpr std::uint64_t kSplitSteps =
    200'000;  // for one of them; beyond it the pods count as fitting

// Of a job with several pods.
ChipSet usable_chips(const Node& node) { return node.free() - node.network_unhealthy; }

bool has_rules(const domain::NodeTopology& topology) {
  return topology.rule().kind != domain::RuleKind::any || !topology.partitions().empty();
}

bool same_chips(const std::vector<PodToPlan>& pods) {
  return std::adjacent_find(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
           return a.chips != b.chips;
         }) == pods.end();
}

// How many pods with these needs fit into the room.
int pods_in(const solver::Room& room, const solver::Room& needs) {
  if (!room.known || !needs.known) return solver::kUnlimitedPods;
  int most = solver::kUnlimitedPods;
  if (needs.cores > 0) most = std::min(most, room.cores / needs.cores);
  if (needs.gib > 0) most = std::min(most, room.gib / needs.gib);
  return most;
}

// The largest needs of any pod: whichever pods a node gets, they fit. chips: 0 if they differ.
PodToPlan largest(const std::vector<PodToPlan>& pods) {
  PodToPlan out = pods.front();
  if (!same_chips(pods)) out.chips = 0;
  for (const PodToPlan& pod : pods) {
    if (!pod.needs.known) continue;
    out.needs.known = true;
    out.needs.cores = std::max(out.needs.cores, pod.needs.cores);
    out.needs.gib = std::max(out.needs.gib, pod.needs.gib);
  }
  return out;
}

solver::NodeMachine machine_of(const Node& node, ChipSet held) {
  solver::NodeMachine out;
  out.machine = node.wiring;
  out.topology = {node.wiring, &node.topology};  // the node outlives the plan
  out.free = usable_chips(node);
  out.held = held;
  out.held_known = !held.empty();
  out.loaded = node.topology.all() - node.free() - node.unhealthy - held;
  return out;
}

}  // namespace

// What limits nodes during one plan; taken back at its end.
struct GangPlanner::Limits {
  explicit Limits(Fabric& of) : fabric(of) {}
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;
  ~Limits() {
    for (const FabricNodeId node : left_out) fabric.set_healthy(node, true);
    for (const FabricNodeId node : limited) fabric.set_max_pods(node, solver::kUnlimitedPods);
    fabric.set_chip_fit(nullptr);
  }
  void leave_out(FabricNodeId node) {
    fabric.set_healthy(node, false);
    left_out.push_back(node);
  }
  void limit(FabricNodeId node, int pods) {
    fabric.set_max_pods(node, pods);
    limited.push_back(node);
  }

  Fabric& fabric;
  std::vector<FabricNodeId> left_out;
  std::vector<FabricNodeId> limited;
};

// No more than the chips allow; kUnlimitedPods where nothing but their number does.
int GangPlanner::most_pods(const Node& node, ChipSet free, const PodToPlan& pod, bool distributed) {
  const int by_room = pods_in(node.room, pod.needs);
  if (pod.chips == 0 || !has_rules(node.topology)) return by_room;
  if (legal_.size() >= kMaxLegal) legal_.clear();
  const auto [known, fresh] =
      legal_.try_emplace({node.wiring.get(), free.bits(), pod.chips, distributed}, 0);
  for (int pods = free.size() / pod.chips; fresh && pods > 0; --pods) {
    std::uint64_t steps = kSplitSteps;
    const std::vector<int> sizes(static_cast<std::size_t>(pods), pod.chips);
    if (!solver::splits_legally(*node.wiring, free, sizes, distributed, steps).value_or(true))
      continue;
    known->second = pods;
    break;
  }
  return std::min(by_room, known->second);
}

// The gang as the solver takes it; `machines` gets the nodes that may hold pods of it.
domain::Gang GangPlanner::lay_out(const GangToPlan& asked, Limits& limits,
                                  solver::NodeMachines& machines, std::vector<NodeId>& ids) {
  Fabric& fabric = limits.fabric;
  domain::Gang gang;
  gang.pods = static_cast<int>(asked.pods.size());
  gang.min_member = asked.minimum;
  gang.objective = asked.objective;
  if (same_chips(asked.pods)) {
    gang.chips_per_pod = asked.pods.front().chips;
  } else {
    for (const PodToPlan& pod : asked.pods) gang.pod_chips.push_back(pod.chips);
  }
  std::map<NodeId, ChipSet> held;
  for (const PlacedBefore& one : asked.placed) {
    const FabricNodeId at = fabric.find(nodes_.node(one.node).name);
    if (at == solver::kNowhere) continue;
    domain::Running& running = gang.existing[at];
    ++running.pods;
    running.ranks.push_back(one.rank);
    held[one.node] |= one.chips;
  }
  const PodToPlan pod = largest(asked.pods);
  const bool distributed = gang.size() > 1;
  ids.assign(fabric.node_numbers(), kNoNode);
  for (FabricNodeId at = 0; at < fabric.node_numbers(); ++at) {
    if (!fabric.node(at).in_use) continue;
    const NodeId id = ids[at] = nodes_.find(fabric.node(at).name);
    const auto mine = held.find(id);
    const bool healthy = fabric.node(at).healthy;
    if (!healthy && mine == held.end()) continue;
    const Node& node = nodes_.node(id);
    const bool offered =
        asked.offered == nullptr || (id < asked.offered->size() && (*asked.offered)[id]);
    if (healthy && !offered) {
      limits.leave_out(at);
      if (mine == held.end()) continue;
    } else if (healthy) {
      const int most = most_pods(node, usable_chips(node), pod, distributed);
      if (most < solver::kUnlimitedPods) limits.limit(at, most);
    }
    machines.emplace(at, machine_of(node, mine == held.end() ? ChipSet() : mine->second));
  }
  return gang;
}

GangPlacement GangPlanner::plan(const GangToPlan& asked) {
  Fabric& fabric = network_.fabric(asked.resource);
  Limits limits(fabric);
  solver::NodeMachines machines;
  std::vector<NodeId> ids;
  const domain::Gang gang = lay_out(asked, limits, machines, ids);
  if (!gang.pod_chips.empty()) solver::limit_by_chips(fabric, machines, gang);
  const std::vector<std::string>& levels = network_.levels();
  const auto planned = solver::plan_down_to_chips(
      fabric, levels, gang, machines, {}, [&](const Fabric& on) -> Result<domain::Plan> {
        return solver::plan_on_best_nodes(on, levels, gang, machines);
      });
  GangPlacement out;
  if (!planned) {
    out.reason = planned.error().text();
    return out;
  }
  const domain::Plan& plan = planned->plan;
  out.fits = plan.fits;
  out.reason = plan.reason;
  out.optimal = plan.optimal;
  if (!out.fits) return out;
  out.domains = plan.domains;
  out.gbps = planned->bandwidth.gbps;
  out.pods.resize(asked.pods.size());
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    // Pods that are all alike are numbered in the order of the plan's ranks.
    const bool alike = gang.pod_chips.empty();
    GangPlacement::Place& place = out.pods[alike ? i : static_cast<std::size_t>(plan.pods[i].pod)];
    place.node = ids[plan.pods[i].node];
    const domain::NodeTopology& topology = nodes_.node(place.node).topology;
    for (const int index : planned->chips[i])
      place.chips.insert(*topology.slot_of(domain::ChipIndex{index}));
  }
  return out;
}

}  // namespace chipweave::sched
