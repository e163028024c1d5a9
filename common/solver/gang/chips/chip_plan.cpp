#include "common/solver/gang/chips/chip_plan.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "common/solver/gang/chips/gang_chips.hpp"
#include "common/solver/gang/chips/machine_fit.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/rails/fastest_plan.hpp"
#include "common/solver/gang/repair/lost_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

// How many pods of one size have legal chips together on a machine with these chips free. Memoised
// by machine and free chips, since most nodes are equal.
class MostPods {
 public:
  MostPods(const Gang& gang, int chips) : gang_(gang), chips_(chips) {}
  int on(const NodeMachine& node) {
    const auto [at, fresh] = known_.try_emplace({node.machine.get(), node.free.bits()}, 0);
    if (!fresh) return at->second;
    const int most = std::min(gang_.pods, node.free.size() / chips_);
    for (const auto& gbps :
         gbps_of_pods(*node.machine, node.free, most, chips_, {}, gang_.size() > 1)) {
      if (!gbps) break;
      ++at->second;
    }
    return at->second;
  }

 private:
  const Gang& gang_;
  int chips_;
  std::map<std::pair<const Machine*, std::uint64_t>, int> known_;
};

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

// The size of all new pods, if they have one.
std::optional<int> one_size(const Gang& gang) {
  std::optional<int> size;
  const auto see = [&size](int chips) {
    const bool same = !size || *size == chips;
    size = chips;
    return same;
  };
  if (!gang.pod_chips.empty()) {
    if (!std::all_of(gang.pod_chips.begin(), gang.pod_chips.end(), see)) return std::nullopt;
    return size;
  }
  if (gang.sets.empty()) return gang.chips_per_pod;
  for (const domain::PodSet& set : gang.sets)
    if (set.pods > 0 && !see(set.chips_per_pod)) return std::nullopt;
  return size;
}

// The chips that running pods of the gang hold, by node, without those on failed nodes.
std::map<FabricNodeId, int> running_chips(const Fabric& fabric, const Gang& gang) {
  std::map<FabricNodeId, int> out;
  if (gang.failed) {
    for (const RunningPod& pod : identify_pods(fabric, gang)) out[pod.node] += chips_of(gang, pod);
    for (const FabricNodeId node : *gang.failed) out.erase(node);
    return out;
  }
  // New pods only are numbered, so the size of a running one is that of its set or of the gang.
  for (const auto& [node, here] : gang.existing) {
    int rest = here.pods;
    for (const domain::PodSet& set : gang.sets) {
      const auto at = set.existing.find(node);
      if (at == set.existing.end()) continue;
      out[node] += at->second * set.chips_per_pod;
      rest -= at->second;
    }
    out[node] += rest * gang.chips_per_pod;
  }
  return out;
}

// How many chips are in each domain of the levels.
std::vector<AllToAllLevel> levels_of(const Fabric& fabric, const std::vector<std::string>& names,
                                     const std::vector<std::optional<double>>& level_gbps,
                                     const std::vector<UsedNode>& nodes,
                                     const std::vector<AllToAllNode>& exchange) {
  std::vector<AllToAllLevel> out;
  for (std::size_t level = 0; level < names.size(); ++level) {
    std::map<DomainId, DomainShare> domains;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      DomainShare& share = domains[fabric.domain_of(nodes[i].id, static_cast<int>(level))];
      ++share.nodes;
      share.chips += exchange[i].chips;
    }
    AllToAllLevel& to = out.emplace_back();
    to.name = names[level];
    if (level < level_gbps.size()) to.gbps = level_gbps[level];
    for (const auto& [domain, share] : domains) to.domains.push_back(share);
  }
  return out;
}

// The nodes of the plan and those where pods of the gang run.
std::vector<UsedNode> used_nodes(const Fabric& fabric, const Plan& plan, const Gang& gang,
                                 const NodeMachines& machines) {
  std::map<FabricNodeId, UsedNode> by_node;
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    UsedNode& node = by_node[plan.pods[i].node];
    node.pods.push_back(i);
    node.sizes.push_back(gang.chips_of(plan.pods[i].pod, plan.pods[i].set));
  }
  for (const auto& [id, chips] : running_chips(fabric, gang))
    if (chips > 0) by_node[id].running_chips = chips;
  std::vector<UsedNode> out;
  for (auto& [id, node] : by_node) {
    node.id = id;
    const auto machine = machines.find(id);
    if (machine != machines.end()) node.machine = &machine->second;
    out.push_back(std::move(node));
  }
  return out;
}

ChipPlan undealt_on(const std::string& name, const UsedNode& node) {
  ChipPlan none;
  none.plan =
      domain::refused_plan("the chips of " + name +
                           " that are free cannot be split among its pods by the vendor's rules");
  none.plan.optimal = false;
  none.undealt = ChipPlan::Undealt{node.id, node.with_chips()};
  return none;
}

// A node's part of the bandwidth where its running pods' chips are not known: its rails are left
// out, and its chip set, which the caller reports.
void leave_out(NodeBandwidth& node) {
  node.chips = 1;  // takes part in the gang, but has no rate of its own
  node.set_gbps = std::nullopt;
  node.rails.unknown = "which chips the running pods hold is not given";
}

}  // namespace

void limit_by_chips(Fabric& fabric, const NodeMachines& machines, const Gang& gang) {
  const std::optional<int> chips = one_size(gang);
  fabric.set_chip_fit(nullptr);
  if (chips) {
    if (*chips == 0) return;
    MostPods most(gang, *chips);
    for (const auto& [node, machine] : machines) {
      if (most.on(machine) < fabric.node(node).max_pods)
        fabric.set_max_pods(node, most.on(machine));
    }
    return;
  }
  auto fit = std::make_shared<MachineFit>(gang.size() > 1);
  for (const auto& [node, machine] : machines) fit->add(node, machine.machine, machine.free);
  if (!fit->empty()) fabric.set_chip_fit(std::move(fit));
}

ChipPlan assign_chips_for(domain::Objective objective, const Fabric& fabric,
                          const std::vector<std::string>& level_names, const Gang& gang,
                          const NodeMachines& machines,
                          const std::vector<std::optional<double>>& level_gbps, Plan plan) {
  ChipPlan out;
  out.plan = std::move(plan);
  if (!out.plan.fits || machines.empty()) return out;
  out.chips.resize(out.plan.pods.size());
  out.rings.resize(out.plan.pods.size());
  const std::vector<UsedNode> nodes = used_nodes(fabric, out.plan, gang, machines);
  GangChips chosen(nodes, machines, gang.size() > 1, objective,
                   least_level_gbps(out.plan, level_gbps));
  Rings rings;
  GangShape shape;
  shape.trees = true;
  std::vector<AllToAllNode> exchange;
  std::vector<std::string> not_given;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    NodeBandwidth& node = shape.nodes.emplace_back();
    AllToAllNode& exchanging = exchange.emplace_back();
    node.name = exchanging.name = fabric.node(nodes[i].id).name;
    node.chips =
        std::accumulate(nodes[i].sizes.begin(), nodes[i].sizes.end(), nodes[i].running_chips);
    exchanging.chips = node.chips;
    if (nodes[i].machine == nullptr) {
      node.set_gbps = std::nullopt;
      node.rails.unknown = "the machine is not known";
      continue;
    }
    const GroupChoice& choice = chosen.choice(i);
    if (!choice.fits) return undealt_on(node.name, nodes[i]);
    const NodeMachine& machine = *nodes[i].machine;
    for (std::size_t k = 0; k < nodes[i].pods.size(); ++k) {
      out.chips[nodes[i].pods[k]] = machine.topology->indices(choice.parts[k]);
      out.rings[nodes[i].pods[k]] = rings.of(machine, choice.parts[k]);
    }
    if (nodes[i].running_chips > 0 && !machine.held_known) {
      leave_out(node);
      not_given.push_back(node.name);
      continue;
    }
    const ChipSet all = choice.chips | machine.held;
    node.chips = all.size();
    exchanging.chips = node.chips;
    // choose_for_pods() ends early for pods without chips.
    node.set_gbps = choice.chips.empty() && !all.empty() ? machine.machine->gbps(all) : choice.gbps;
    node.rails = chosen.rails(i);
    node.reduction_gbps = reduction_gbps(*machine.topology, all, *node.set_gbps);
    shape.trees = shape.trees && machine.topology->vendor() == "nvidia";
    exchanging.inside_gbps = machine.machine->all_to_all_gbps(all);
    if (node.rails.unknown.empty()) {
      exchanging.adapters_gbps = 0;
      for (const Rail& rail : node.rails.rails) *exchanging.adapters_gbps += rail.gbps;
    }
  }
  for (std::size_t level = 0; level < level_names.size(); ++level)
    shape.levels.push_back({level_names[level], out.plan.domains[level],
                            level < level_gbps.size() ? level_gbps[level] : std::nullopt});
  out.bandwidth = gang_bandwidth(shape);
  out.all_reduce = all_reduce(shape, out.bandwidth);
  out.all_to_all =
      all_to_all(exchange, levels_of(fabric, level_names, level_gbps, nodes, exchange));
  if (!not_given.empty())
    out.bandwidth.left_out.push_back("chips of " + std::to_string(not_given.size()) +
                                     (not_given.size() == 1 ? " node" : " nodes") +
                                     " with running pods: which ones they hold is not given");
  return out;
}

ChipPlan assign_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                      const Gang& gang, const NodeMachines& machines,
                      const std::vector<std::optional<double>>& level_gbps, Plan plan) {
  const auto assigned = [&](domain::Objective objective) {
    return assign_chips_for(objective, fabric, level_names, gang, machines, level_gbps, plan);
  };
  ChipPlan out = assigned(gang.objective);
  if (gang.objective != domain::Objective::all_to_all || !out.all_to_all.gbps) return out;
  // Each node chooses for its own exchange, which need not be the gang's slowest part: where the
  // chips that bandwidth chooses exchange faster, they count.
  ChipPlan fast = assigned(domain::Objective::bandwidth);
  return fast.all_to_all.gbps.value_or(0) > *out.all_to_all.gbps + kSameRate ? fast : out;
}

namespace {

// Keeps such pods from nodes in the same state.
void forbid(Fabric& fabric, const NodeMachines& machines, const ChipPlan::Undealt& undealt) {
  if (ChipFit* fit = fabric.chip_fit(); fit != nullptr && fit->restricts(undealt.node))
    return fit->forbid(undealt.node, undealt.sizes);
  const NodeMachine& state = machines.at(undealt.node);
  const auto most = static_cast<int>(undealt.sizes.size()) - 1;
  for (const auto& [node, one] : machines)
    if (one.machine == state.machine && one.free == state.free && most < fabric.node(node).max_pods)
      fabric.set_max_pods(node, most);
}

}  // namespace

Result<ChipPlan> plan_down_to_chips(const Fabric& fabric,
                                    const std::vector<std::string>& level_names, const Gang& gang,
                                    const NodeMachines& machines,
                                    const std::vector<std::optional<double>>& level_gbps,
                                    const std::function<Result<Plan>(const Fabric&)>& plan) {
  std::optional<Fabric> reduced;
  for (int deal = 0;; ++deal) {
    const Fabric& on = reduced ? *reduced : fabric;
    auto planned = plan(on);
    if (!planned) return std::move(planned).error();
    if (reduced && planned->fits) {  // others of those pods' splits may be legal
      planned->optimal = false;
      planned->bound.assign(level_names.size(), 1);
    }
    ChipPlan out = assign_chips(on, level_names, gang, machines, level_gbps, *std::move(planned));
    if (!out.undealt || deal == kMaxDeals) return out;
    if (!reduced) reduced = fabric;
    forbid(*reduced, machines, *out.undealt);
  }
}

}  // namespace chipweave::solver
