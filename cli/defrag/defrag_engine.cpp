#include "cli/defrag/defrag_engine.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "cli/defrag/moved_cluster.hpp"
#include "common/solver/gang/defrag/move_order.hpp"

namespace chipweave::cli {
namespace {

using codec::DefragAnswer;
using codec::DefragLineRequest;
using solver::ChipSet;
using solver::FabricNodeId;

// How often moves are planned again because the chips of a node could not be dealt.
constexpr int kMaxMoveDeals = 16;

// A network whose accelerators' domains do not nest has both hierarchies among its levels. Then
// only the one that the request names is used.
bool names_switches(const DefragLineRequest& request) {
  const auto own = static_cast<int>(request.network.accelerator_levels);
  return request.level >= own ||
         std::any_of(request.pods.begin(), request.pods.end(),
                     [&](const codec::RunningPodEntry& pod) { return pod.keep_level >= own; });
}

int fabric_level(int level, int first) {
  return level == domain::kNoLevel ? domain::kNoLevel : level - first;
}

// The chips that the pod holds on its node's machine.
Result<ChipSet> held_slots(const codec::RunningPodEntry& pod, const solver::NodeMachine& machine,
                           const std::string& name) {
  ChipSet out;
  for (const int index : *pod.indices) {
    const auto slot = machine.topology->slot_of(domain::ChipIndex{index});
    if (!slot)
      return make_error(Errc::invalid_argument, name + " has no chip " + std::to_string(index))
          .in("chips")
          .in("pods." + pod.name);
    out.insert(*slot);
  }
  return out;
}

// Takes the pods' chips from what is free on the nodes.
Result<void> hold_chips(const DefragLineRequest& request, DefragEngine::Prepared& prepared) {
  std::unordered_map<FabricNodeId, ChipSet> held;
  for (std::size_t i = 0; i < request.pods.size(); ++i) {
    const codec::RunningPodEntry& pod = request.pods[i];
    const auto node = static_cast<FabricNodeId>(pod.node);
    const auto machine = prepared.machines.find(node);
    if (machine == prepared.machines.end()) continue;
    const auto slots = held_slots(pod, machine->second, request.network.nodes[node].machine);
    if (!slots) return Error(slots.error());
    const bool listed_free = request.network.nodes[node].free_chips.has_value();
    ChipSet twice = held[node] & *slots;
    if (listed_free) twice |= machine->second.free & *slots;
    if (!twice.empty())
      return make_error(Errc::invalid_argument,
                        "has chip " +
                            std::to_string(machine->second.topology->indices(twice).front()) +
                            ", which is free or held by another pod")
          .in("chips")
          .in("pods." + pod.name);
    held[node] |= *slots;
    prepared.chips[i].held = *slots;
  }
  for (auto& [node, machine] : prepared.machines) {
    const ChipSet healthy = machine.topology->all() - machine.topology->unhealthy();
    machine.free -= held[node];
    if (!(healthy - machine.free - held[node]).empty()) prepared.occupied.push_back(node);
  }
  std::sort(prepared.occupied.begin(), prepared.occupied.end());
  return {};
}

// Chips of the moved pods, by position in the plan's moves; nullopt: those of some node cannot be
// dealt, and are forbidden from now on.
std::optional<std::vector<ChipSet>> deal(const solver::DefragPlan& plan,
                                         solver::DefragChips& chips) {
  std::map<FabricNodeId, std::vector<std::size_t>> leaving;
  std::map<FabricNodeId, std::vector<std::size_t>> arriving;  // positions in the moves
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    leaving[plan.moves[i].from].push_back(plan.moves[i].pod);
    arriving[plan.moves[i].to].push_back(i);
  }
  std::vector<ChipSet> out(plan.moves.size());
  for (const auto& [node, moves] : arriving) {
    if (chips.machine(node) == nullptr) continue;
    std::vector<std::size_t> pods;
    for (const std::size_t move : moves) pods.push_back(plan.moves[move].pod);
    const auto dealt = chips.deal(node, leaving[node], pods);
    if (!dealt) {
      chips.forbid(node, leaving[node], pods);
      return std::nullopt;
    }
    for (std::size_t k = 0; k < moves.size(); ++k) out[moves[k]] = (*dealt)[k];
  }
  return out;
}

std::vector<codec::FreedDomain> domains_of(const DefragLineRequest& request,
                                           const DefragEngine::Prepared& prepared,
                                           const std::vector<std::uint32_t>& ids) {
  std::vector<codec::FreedDomain> out;
  for (const std::uint32_t id : ids) {
    codec::FreedDomain& domain = out.emplace_back();
    if (request.level == domain::kNoLevel) {
      domain.path = request.network.nodes[id].path;
      domain.nodes.push_back(id);
      continue;
    }
    prepared.fabric.each_node_below(id, [&](FabricNodeId node) {
      if (prepared.fabric.node(node).healthy) domain.nodes.push_back(node);
    });
    const codec::PlanNode& first = request.network.nodes[domain.nodes.front()];
    domain.path = prepared.first_level > 0 ? first.path : first.place;
    domain.path.resize(static_cast<std::size_t>(request.level - prepared.first_level) + 1);
  }
  return out;
}

std::string reason_of(const DefragLineRequest& request, const solver::DefragPlan& plan) {
  if (!plan.freed.empty()) return "";
  const std::string what = request.level == domain::kNoLevel
                               ? "node"
                               : request.network.levels[static_cast<std::size_t>(request.level)];
  if (plan.in_use == 0) return "no " + what + " is in use";
  if (plan.candidates == 0) {
    std::string out = "no " + what + " in use holds movable pods only";
    if (request.max_moves) out += ", at most max_moves of them";
    return out;
  }
  return plan.optimal ? "the pods of no " + what + " fit on other nodes"
                      : "found no " + what + " whose pods fit on other nodes";
}

void count_whole_nodes(const DefragEngine::Prepared& prepared, DefragAnswer& answer) {
  std::vector<solver::ChipUse> after = prepared.uses;
  std::vector<int> pods(after.size(), 0);
  for (const solver::DefragPod& pod : prepared.pods) ++pods[pod.node];
  for (const codec::MoveEntry& move : answer.moves) {
    --pods[move.from];
    ++pods[move.to];
  }
  for (std::size_t n = 0; n < after.size(); ++n) after[n].in_use = pods[n] > 0;
  for (const FabricNodeId node : prepared.occupied) after[node].in_use = true;
  answer.whole_node_chips = solver::usual_node_size(prepared.fabric, prepared.uses);
  const auto count = [&](const std::vector<solver::ChipUse>& uses, std::vector<int>& out) {
    out = solver::largest_whole_node_gangs(prepared.fabric, uses, answer.whole_node_chips);
    out.insert(out.begin(), static_cast<std::size_t>(prepared.first_level), 0);
  };
  count(prepared.uses, answer.whole_nodes_before);
  count(after, answer.whole_nodes_after);
}

// Their chips and bandwidth, and in which steps they happen.
void describe_moves(const DefragLineRequest& request, const DefragEngine::Prepared& prepared,
                    const solver::DefragPlan& plan, const std::vector<ChipSet>& chips,
                    DefragAnswer& answer) {
  std::vector<solver::MoveToOrder> order;
  std::unordered_map<FabricNodeId, ChipSet> free;
  std::set<std::string> gangs;
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    const solver::PodMove& move = plan.moves[i];
    const solver::DefragPod& pod = prepared.pods[move.pod];
    codec::MoveEntry& to = answer.moves.emplace_back();
    to.pod = move.pod;
    to.from = move.from;
    to.to = move.to;
    ChipSet left = prepared.chips[move.pod].held;
    if (const auto from = prepared.machines.find(move.from); from != prepared.machines.end()) {
      free.try_emplace(move.from, from->second.free);
      if (pod.chips > 1) to.gbps_before = from->second.machine->gbps(left);
      left -= from->second.topology->unhealthy();
    }
    if (const auto on = prepared.machines.find(move.to); on != prepared.machines.end()) {
      free.try_emplace(move.to, on->second.free);
      to.chips = on->second.topology->indices(chips[i]);
      if (pod.chips > 1) to.gbps_after = on->second.machine->gbps(chips[i]);
    }
    order.push_back({move.from, move.to, pod.chips, pod.released, left, chips[i]});
    if (const std::string& gang = request.pods[move.pod].gang; !gang.empty()) gangs.insert(gang);
  }
  const std::vector<solver::MoveStep> steps = solver::order_moves(prepared.fabric, order, free);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    answer.moves[i].step = steps[i].step;
    answer.moves[i].stop_first = steps[i].stop_first;
  }
  answer.gangs.assign(gangs.begin(), gangs.end());
}

}  // namespace

Result<DefragEngine::Prepared> DefragEngine::prepare(const DefragLineRequest& request) {
  const codec::PlanRequest& network = request.network;
  const bool switches = !network.nested && names_switches(request);
  Prepared out{.fabric = solver::Fabric(switches ? network.switch_levels : network.levels.size()),
               .first_level = switches ? static_cast<int>(network.accelerator_levels) : 0};
  for (std::size_t n = 0; n < request.nodes; ++n) {
    const codec::PlanNode& node = network.nodes[n];
    const auto id = out.fabric.add(node.name, switches ? node.path : node.place);
    if (!id) return Error(id.error());
    if (node.max_pods >= 0) out.fabric.set_max_pods(*id, node.max_pods);
    out.fabric.set_healthy(*id, node.healthy);
    if (node.machine.empty()) continue;
    auto machine = plans_.machine_of(node, {}, *id);
    if (!machine) return std::move(machine).error();
    out.machines.emplace(*id, *std::move(machine));
  }
  for (const codec::RunningPodEntry& pod : request.pods)
    out.chips.push_back({static_cast<FabricNodeId>(pod.node), pod.chips, {}, pod.gang});
  if (auto held = hold_chips(request, out); !held) return std::move(held).error();
  const solver::DefragChips chips(out.machines, out.chips);
  out.uses.resize(request.nodes);
  out.vendors.resize(request.nodes, 0);
  std::map<std::string, int> vendors;
  for (std::size_t n = 0; n < request.nodes; ++n) {
    const auto id = static_cast<FabricNodeId>(n);
    const auto machine = out.machines.find(id);
    const bool known = machine != out.machines.end();
    if (known)
      out.vendors[n] =
          vendors
              .try_emplace(machine->second.topology->vendor(), static_cast<int>(vendors.size()) + 1)
              .first->second;
    out.fabric.set_free(id, known ? machine->second.free.size() : network.nodes[n].free);
    out.uses[n].chips =
        known ? (machine->second.topology->all() - machine->second.topology->unhealthy()).size()
              : network.nodes[n].free;
  }
  for (const FabricNodeId node : out.occupied) out.uses[node].in_use = true;
  for (std::size_t i = 0; i < request.pods.size(); ++i) {
    const codec::RunningPodEntry& pod = request.pods[i];
    out.pods.push_back({.name = pod.name,
                        .node = static_cast<FabricNodeId>(pod.node),
                        .chips = pod.chips,
                        .released = chips.released(i),
                        .movable = pod.movable,
                        .keep_level = fabric_level(pod.keep_level, out.first_level),
                        .distributed = !pod.gang.empty()});
    solver::ChipUse& use = out.uses[pod.node];
    use.in_use = true;
    if (!out.machines.contains(static_cast<FabricNodeId>(pod.node))) use.chips += pod.chips;
  }
  return out;
}

DefragAnswer DefragEngine::decide(const DefragLineRequest& request, const Prepared& prepared) {
  solver::DefragChips chips(prepared.machines, prepared.chips);
  solver::DefragRequest problem;
  problem.fabric = &prepared.fabric;
  problem.pods = &prepared.pods;
  problem.target.level = fabric_level(request.level, prepared.first_level);
  if (request.domains) problem.target.domains = *request.domains;
  if (request.max_moves) problem.target.max_moves = *request.max_moves;
  problem.occupied = prepared.occupied;
  problem.groups = prepared.vendors;
  if (!prepared.machines.empty()) problem.fit = &chips;
  solver::DefragPlan plan = solver::plan_moves(problem);
  std::optional<std::vector<ChipSet>> dealt = deal(plan, chips);
  for (int i = 1; !dealt && i < kMaxMoveDeals; ++i) {
    plan = solver::plan_moves(problem);
    dealt = deal(plan, chips);
  }
  if (!dealt) {
    // The bound still holds; the moves do not.
    plan.moves.clear();
    plan.freed.clear();
    plan.used_up.clear();
    plan.free_after = plan.free_before;
    plan.chips_moved = 0;
    plan.optimal = false;
    dealt.emplace();
  }
  DefragAnswer out;
  out.freed = domains_of(request, prepared, plan.freed);
  out.used_up = domains_of(request, prepared, plan.used_up);
  out.free_before = plan.free_before;
  out.free_after = plan.free_after;
  out.chips_moved = plan.chips_moved;
  out.optimal = plan.optimal;
  if (plan.bound) {
    out.bound_domains = plan.bound->domains;
    out.bound_chips = plan.bound->chips;
  }
  out.reason = reason_of(request, plan);
  describe_moves(request, prepared, plan, *dealt, out);
  count_whole_nodes(prepared, out);
  return out;
}

Result<codec::PlanOutcome> DefragEngine::outlook(const codec::PlanRequest& request) {
  const auto prepared = plans_.prepare(request);
  if (!prepared) return Error(prepared.error());
  const auto decided = PlanEngine::decide(request, *prepared);
  if (!decided) return Error(decided.error());
  return outcome_of(*decided);
}

Result<void> DefragEngine::plan_gang(const DefragLineRequest& request, const Prepared& prepared,
                                     DefragAnswer& answer) {
  if (!request.has_gang) return {};
  auto before = outlook(cluster_before(request, prepared));
  if (!before) return std::move(before).error();
  answer.gang_before = *std::move(before);
  auto after = outlook(cluster_after(request, prepared, answer));
  if (!after) return std::move(after).error();
  answer.gang_after = *std::move(after);
  return {};
}

}  // namespace chipweave::cli
