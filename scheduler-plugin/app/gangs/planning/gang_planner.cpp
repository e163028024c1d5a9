#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"

#include <algorithm>
#include <utility>

#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "common/solver/vendor/vendor_plan.hpp"
#include "scheduler-plugin/app/gangs/planning/neighbours.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/plan_problem.hpp"

namespace chipweave::sched {
namespace {

using solver::Fabric;
using solver::FabricNodeId;

// Of larger gangs the leaf switches do not count: they are on many sets of them anyway, and looking
// for fewer takes up to kMaxLeafPlans plans.
constexpr int kMaxAlignedPods = 256;

// How many pods with these needs fit into the room.
int pods_in(const solver::Room& room, const solver::Room& needs) {
  int most = solver::kUnlimitedPods;
  if (!room.known || !needs.known) return most;
  if (needs.cores > 0) most = std::min(most, room.cores / needs.cores);
  if (needs.gib > 0) most = std::min(most, room.gib / needs.gib);
  return most;
}

solver::NodeMachine machine_of(const Node& node, ChipSet free, ChipSet held) {
  solver::NodeMachine out;
  out.machine = node.wiring;
  out.topology = node.layout;
  out.free = free;
  out.held = held;
  out.held_known = !held.empty();
  out.loaded = node.topology.all() - node.free() - node.unhealthy - held - free;
  return out;
}

std::string why_barred(std::size_t nodes, std::size_t of) {
  if (nodes == 0) return {};
  return "; its pods may not run on " + std::to_string(nodes) + " of " + std::to_string(of) +
         " nodes (node selectors, affinity, taints)";
}

// Null: nothing.
const ToComeFree* to_come_on(const GangToPlan& asked, NodeId id) {
  if (asked.to_come == nullptr) return nullptr;
  const auto at = asked.to_come->find(id);
  return at == asked.to_come->end() ? nullptr : &at->second;
}

bool one_size(const domain::Gang& gang) { return gang.sets.empty() && gang.pod_chips.empty(); }

bool is_offered(const GangToPlan& asked, NodeId id) {
  return asked.offered == nullptr || (id < asked.offered->size() && (*asked.offered)[id]);
}

// Of the slots that need a place, in their order.
std::vector<SharedWishes> open_wishes(const GangToPlan& asked) {
  std::vector<SharedWishes> out;
  for (std::size_t slot = 0; slot < asked.seated.size(); ++slot) {
    if (!asked.seated[slot]) out.push_back((*asked.slots)[slot].nodes);
  }
  return out;
}

}  // namespace

std::vector<NodeId> GangPlacement::nodes() const {
  std::vector<NodeId> out;
  for (const GangSeat& seat : seats) {
    if (seat.node != kNoNode) out.push_back(seat.node);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

GangPlanner::Capacity GangPlanner::capacity_of(const Node& node, const ToComeFree* to_come) {
  if (to_come == nullptr) return {node.free() - node.network_unhealthy, node.room};
  return {(node.free() | (to_come->chips - node.unhealthy)) - node.network_unhealthy,
          to_come->room};
}

// As the chips and their rules allow, and CPU and memory.
int GangPlanner::most_pods(const Node& node, const Capacity& capacity, int chips,
                           const solver::Room& needs, bool distributed) {
  const int by_room = pods_in(capacity.room, needs);
  if (chips == 0) return by_room;
  return std::min(by_room, legal_.on(node, capacity.free, chips, distributed));
}

void GangPlanner::limit_nodes(PlanProblem& problem, const GangToPlan& asked, const SlotNodes& may) {
  Fabric& fabric = problem.fabric;
  std::map<NodeId, ChipSet> held;
  for (const auto& seat : asked.seated) {
    if (seat && seat->node != kNoNode) held[seat->node] |= seat->chips;
  }
  const bool distributed = problem.gang.size() > 1;
  const int chips = one_size(problem.gang) ? problem.gang.chips_per_pod : 0;
  problem.machines.reserve(fabric.size());
  for (FabricNodeId at = 0; at < fabric.node_numbers(); ++at) {
    if (!fabric.node(at).in_use) continue;
    const NodeId id = problem.resource.node_of(at);
    const auto mine = held.find(id);
    const bool healthy = fabric.node(at).healthy;
    const bool offered = is_offered(asked, id);
    // vendors' rules know one kind of pods only
    const bool allowed = asked.layout->vendor ? may.all(id) : may.any(id);
    const bool usable = healthy && offered && allowed;
    if (healthy && !usable) problem.leave_out(at);
    problem.barred += healthy && offered && !allowed ? 1U : 0U;
    if (!usable && mine == held.end()) continue;
    const Node& node = nodes_.node(id);
    const ToComeFree* more = to_come_on(asked, id);
    const Capacity capacity = capacity_of(node, more);
    if (more != nullptr) problem.raise(at, capacity.free.size());
    if (usable)
      fabric.set_max_pods(at, most_pods(node, capacity, chips, asked.layout->needs, distributed));
    problem.machines.emplace(
        at, machine_of(node, capacity.free, mine == held.end() ? ChipSet() : mine->second));
  }
  if (!asked.layout->vendor) problem.keep_apart(may);
  if (!one_size(problem.gang)) solver::limit_by_chips(fabric, problem.machines, problem.gang);
}

GangPlacement GangPlanner::plan(const GangToPlan& asked) {
  const GangLayout& layout = *asked.layout;
  PlanProblem problem(network_.fabric_of(layout.resource));
  problem.take(asked, nodes_);
  const SlotNodes may(eligible_, open_wishes(asked));
  limit_nodes(problem, asked, may);
  const std::vector<std::string>& levels = network_.levels();
  const domain::Gang& gang = problem.gang;
  static const solver::RailLeaves kNone;
  const solver::RailLeaves& leaves =
      gang.pods <= kMaxAlignedPods ? problem.resource.leaves() : kNone;
  const auto planned = solver::plan_down_to_chips(
      problem.fabric, levels, gang, problem.machines, {},
      [&](const Fabric& on) -> Result<domain::Plan> {
        if (!layout.vendor)
          return solver::plan_on_best_nodes(on, levels, gang, problem.machines, {}, leaves);
        auto by_vendor = solver::plan_vendor_gang(on, levels, gang, *layout.vendor);
        if (!by_vendor) return std::move(by_vendor).error();
        return std::move(by_vendor->plan);
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
  if (!out.fits) {
    out.reason += why_barred(problem.barred, problem.fabric.size());
    return out;
  }
  out.domains = plan.domains;
  out.gbps = planned->bandwidth.gbps;
  out.seats.resize(layout.slots.size());
  // Pods that are all alike are numbered in the order of the plan's ranks.
  const bool alike = one_size(gang) && gang.allowed.empty();
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    const std::size_t pod = alike ? i : static_cast<std::size_t>(plan.pods[i].pod);
    GangSeat& seat = out.seats[problem.open[pod]];
    seat.node = problem.resource.node_of(plan.pods[i].node);
    const domain::NodeTopology& topology = nodes_.node(seat.node).topology;
    for (const int index : planned->chips[i])
      seat.chips.insert(*topology.slot_of(domain::ChipIndex{index}));
  }
  if (!layout.vendor) seat_beside_neighbours(problem.fabric, nodes_, asked, may, out.seats);
  return out;
}

void GangPlanner::add_nodes_of_others(const ClusterPod& pod, NodeSet& nodes) {
  const NodeSet& own = eligible_.of(pod.nodes);
  for (NodeId node = 0; node < nodes.size(); ++node) {
    if (!own[node]) nodes[node] = true;
  }
}

bool GangPlanner::may_fit(const GangToPlan& asked) {
  const GangLayout& layout = *asked.layout;
  if (!one_size(layout.request) || layout.request.chips_per_pod == 0) return true;
  const auto seated = std::count_if(asked.seated.begin(), asked.seated.end(),
                                    [](const auto& seat) { return seat.has_value(); });
  std::int64_t missing = std::max(layout.request.min_member, 1) - seated;
  const ResourceFabric& resource = network_.fabric_of(layout.resource);
  const Fabric& fabric = resource.fabric();
  const SlotNodes may(eligible_, open_wishes(asked));
  for (FabricNodeId at = 0; at < fabric.node_numbers() && missing > 0; ++at) {
    if (!fabric.node(at).in_use || !fabric.node(at).healthy) continue;
    const NodeId id = resource.node_of(at);
    if (!is_offered(asked, id) || !may.any(id)) continue;
    const Capacity capacity = capacity_of(nodes_.node(id), to_come_on(asked, id));
    missing -= std::min(capacity.free.size() / layout.request.chips_per_pod,
                        pods_in(capacity.room, layout.needs));
  }
  return missing <= 0;
}

bool GangPlanner::fits_when_empty(const GangLayout& layout) {
  const ResourceFabric& resource = network_.fabric_of(layout.resource);
  Fabric fabric = resource.fabric();
  std::vector<SharedWishes> wishes;
  for (const GangSlot& slot : layout.slots) wishes.push_back(slot.nodes);
  const SlotNodes may(eligible_, wishes);
  for (FabricNodeId at = 0; at < fabric.node_numbers(); ++at) {
    if (!fabric.node(at).in_use) continue;
    if (!may.any(resource.node_of(at))) fabric.set_healthy(at, false);
    const Node& node = nodes_.node(resource.node_of(at));
    fabric.set_free(at, (node.topology.all() - node.unhealthy - node.network_unhealthy).size());
    if (!node.whole_room.known) continue;
    fabric.set_max_pods(at, pods_in(node.whole_room, layout.needs));
  }
  return solver::plan_gang(fabric, network_.levels(), layout.request).fits;
}

}  // namespace chipweave::sched
