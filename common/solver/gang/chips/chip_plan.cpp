#include "common/solver/gang/chips/chip_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/planner.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

constexpr std::size_t kMaxNodeRates = 12;  // distinct rates of nodes that plans are compared by

bool is_uniform(const Gang& gang) {
  return gang.sets.empty() && gang.pod_chips.empty() && gang.chips_per_pod > 0;
}

// GB/s of so many pods of one size together on a machine with these chips free. Memoised by machine
// and free chips, since most nodes are equal.
class NodeRates {
 public:
  explicit NodeRates(const Gang& gang) : gang_(gang) {}
  // By pods - 1; ends where no more fit.
  const std::vector<double>& of(const NodeMachine& node) {
    const auto [at, fresh] = known_.try_emplace({node.machine.get(), node.free.bits()});
    if (!fresh) return at->second;
    const int most = std::min(gang_.pods, node.free.size() / gang_.chips_per_pod);
    for (const auto& gbps :
         gbps_of_pods(*node.machine, node.free, most, gang_.chips_per_pod, {}, gang_.pods > 1)) {
      if (!gbps) break;
      at->second.push_back(*gbps);
    }
    return at->second;
  }

 private:
  const Gang& gang_;
  std::map<std::pair<const Machine*, std::uint64_t>, std::vector<double>> known_;
};

// The plan in which the slowest node is the fastest, of those as good as the first one otherwise.
Plan fastest_of_equal(const Fabric& fabric, const std::vector<std::string>& levels,
                      const Gang& gang, const NodeMachines& machines, Plan first) {
  NodeRates rates(gang);
  std::map<FabricNodeId, double> rate;  // with as many pods as it takes
  std::set<double> distinct;
  for (const auto& [node, machine] : machines) {
    const std::vector<double>& known = rates.of(machine);
    if (known.empty()) continue;
    rate[node] = known.back();
    distinct.insert(known.back());
  }
  std::set<FabricNodeId> used;
  for (const domain::PlannedPod& pod : first.pods) used.insert(pod.node);
  double slowest = distinct.empty() ? 0 : *distinct.rbegin();
  for (const FabricNodeId node : used)
    if (const auto at = rate.find(node); at != rate.end()) slowest = std::min(slowest, at->second);
  std::vector<double> faster(distinct.upper_bound(slowest), distinct.end());
  if (faster.size() > kMaxNodeRates) faster.resize(kMaxNodeRates);
  for (const double least : faster) {
    NodeUsages slow;
    for (const auto& [node, gbps] : rate)
      if (gbps < least) slow[node].excluded = true;
    Plan plan = plan_gang(fabric, levels, gang, slow);
    if (!plan.fits || plan.pods.size() < first.pods.size() || plan.domains != first.domains ||
        nodes_used(plan) > nodes_used(first))
      break;
    first = std::move(plan);
  }
  return first;
}

// Memoised rings of chip sets: most pods get the same ones.
class Rings {
 public:
  const std::vector<int>& of(const NodeMachine& node, ChipSet chips) {
    const auto [at, fresh] = known_.try_emplace({node.machine.get(), chips.bits()});
    if (fresh && chips.size() > 2) {
      for (const int slot : ring_order(*node.topology, chips))
        at->second.push_back(node.topology->chip(slot).index.value);
    }
    return at->second;
  }

 private:
  std::map<std::pair<const Machine*, std::uint64_t>, std::vector<int>> known_;
};

// Chips of the pods of one node, in rank order.
bool assign(const NodeMachine& node, const std::vector<std::size_t>& pods,
            const std::vector<int>& sizes, Rings& rings, ChipPlan& out, NodeBandwidth& shape) {
  const GroupChoice choice =
      choose_for_pods(*node.machine, {node.free, {}, sizes, out.plan.pods.size() > 1});
  if (!choice.fits) return false;
  for (std::size_t i = 0; i < pods.size(); ++i)
    out.chips[pods[i]] = node.topology->indices(choice.parts[i]);
  for (std::size_t i = 0; i < pods.size(); ++i)
    out.rings[pods[i]] = rings.of(node, choice.parts[i]);
  shape.chips = choice.chips.size();
  shape.set_gbps = choice.gbps;
  shape.rails = rails_of(*node.topology, choice.chips);
  return true;
}

}  // namespace

void limit_by_chips(Fabric& fabric, const NodeMachines& machines, const Gang& gang) {
  if (!is_uniform(gang)) return;
  NodeRates rates(gang);
  for (const auto& [node, machine] : machines) {
    const auto most = static_cast<int>(rates.of(machine).size());
    if (most < fabric.node(node).max_pods) fabric.set_max_pods(node, most);
  }
}

// Why no machine can run such pods; empty: one can, or some machines are not known.
static std::string illegal_size(const Fabric& fabric, const Gang& gang,
                                const NodeMachines& machines) {
  if (!is_uniform(gang) || machines.size() < fabric.size()) return "";
  std::set<const Machine*> seen;
  std::string why;
  for (const auto& [node, one] : machines) {
    if (!seen.insert(one.machine.get()).second) continue;
    const Wiring wiring(*one.topology);
    const Rules rules(wiring);
    if (rules.legal_size(gang.chips_per_pod, gang.pods > 1)) return "";
    why = rules.size_refusal(gang.chips_per_pod, gang.pods > 1);
  }
  return why;
}

Plan plan_on_fast_nodes(const Fabric& fabric, const std::vector<std::string>& level_names,
                        const Gang& gang, const NodeMachines& machines) {
  Plan plan = plan_gang(fabric, level_names, gang);
  if (!plan.fits) {
    if (std::string why = illegal_size(fabric, gang, machines); !why.empty())
      plan.reason = std::move(why);
    return plan;
  }
  if (machines.empty() || !is_uniform(gang) || gang.failed) return plan;
  return fastest_of_equal(fabric, level_names, gang, machines, std::move(plan));
}

ChipPlan assign_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                      const Gang& gang, const NodeMachines& machines,
                      const std::vector<std::optional<double>>& level_gbps, Plan plan) {
  ChipPlan out;
  out.plan = std::move(plan);
  if (!out.plan.fits || machines.empty()) return out;
  out.chips.resize(out.plan.pods.size());
  out.rings.resize(out.plan.pods.size());
  Rings rings;
  std::map<FabricNodeId, std::vector<std::size_t>> on_node;  // positions of pods, in rank order
  for (std::size_t i = 0; i < out.plan.pods.size(); ++i)
    on_node[out.plan.pods[i].node].push_back(i);
  GangShape shape;
  for (const auto& [id, pods] : on_node) {
    NodeBandwidth& node = shape.nodes.emplace_back();
    node.name = fabric.node(id).name;
    std::vector<int> sizes;
    for (const std::size_t i : pods) {
      sizes.push_back(gang.chips_of(out.plan.pods[i].pod, out.plan.pods[i].set));
      node.chips += sizes.back();
    }
    const auto machine = machines.find(id);
    if (machine == machines.end()) {
      node.set_gbps = std::nullopt;
      node.rails.unknown = "the machine is not known";
      continue;
    }
    if (assign(machine->second, pods, sizes, rings, out, node)) continue;
    ChipPlan none;
    none.plan =
        domain::refused_plan("the chips of " + node.name +
                             " that are free cannot be split among its pods by the vendor's rules");
    none.plan.optimal = false;
    return none;
  }
  for (std::size_t level = 0; level < level_names.size(); ++level)
    shape.levels.push_back({level_names[level], out.plan.domains[level],
                            level < level_gbps.size() ? level_gbps[level] : std::nullopt});
  out.bandwidth = gang_bandwidth(shape);
  return out;
}

}  // namespace chipweave::solver
