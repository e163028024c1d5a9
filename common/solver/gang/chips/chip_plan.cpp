#include "common/solver/gang/chips/chip_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/exchange_shares.hpp"
#include "common/solver/gang/rails/fastest_plan.hpp"
#include "common/solver/gang/rails/rate_search.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

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

// A node of a plan with its pods.
struct UsedNode {
  FabricNodeId id = kNowhere;
  const NodeMachine* machine = nullptr;  // null: not known
  std::vector<std::size_t> pods;         // positions in the plan, in rank order
  std::vector<int> sizes;                // chips of each
  std::vector<int> with_chips() const {
    std::vector<int> out;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
                 [](int size) { return size > 0; });
    return out;
  }
};

std::vector<UsedNode> used_nodes(const Plan& plan, const Gang& gang, const NodeMachines& machines) {
  std::map<FabricNodeId, UsedNode> by_node;
  for (std::size_t i = 0; i < plan.pods.size(); ++i) {
    UsedNode& node = by_node[plan.pods[i].node];
    node.pods.push_back(i);
    node.sizes.push_back(gang.chips_of(plan.pods[i].pod, plan.pods[i].set));
  }
  std::vector<UsedNode> out;
  for (auto& [id, node] : by_node) {
    node.id = id;
    const auto machine = machines.find(id);
    if (machine != machines.end()) node.machine = &machine->second;
    out.push_back(std::move(node));
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

// Of the chips that the nodes of a plan can give its pods, those with which the whole gang is
// fastest. A node keeps the chips that it would choose alone where they are fast enough.
class GangChips {
 public:
  GangChips(const std::vector<UsedNode>& nodes, const NodeMachines& machines, bool distributed,
            domain::Objective objective, double level_gbps)
      : nodes_(nodes),
        options_(machines, distributed),
        distributed_(distributed),
        objective_(objective) {
    for (const UsedNode& node : nodes) choices_.push_back(choose(node, {}));
    if (nodes.size() < 2 || !fit() || objective != domain::Objective::bandwidth) return;
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].machine != nullptr && !nodes[i].with_chips().empty()) known.push_back(i);
    }
    if (known.empty()) return;
    const RateVector need = best_need(known, level_gbps);
    for (const std::size_t i : known) meet_need(i, need);
  }

  const std::vector<GroupChoice>& choices() const { return choices_; }
  NodeRails rails(std::size_t node) {
    return options_.rails_of(*nodes_[node].machine, choices_[node].chips);
  }

 private:
  GroupChoice choose(const UsedNode& node, std::vector<ChipSet> among) const {
    if (node.machine == nullptr) return {};
    return choose_for_pods(
        *node.machine->machine,
        {node.machine->free, {}, node.sizes, distributed_, std::move(among), objective_});
  }
  bool fit() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].machine != nullptr && !choices_[i].fits) return false;
    }
    return true;
  }
  // What the nodes offer together, or more if other chips offer more.
  RateVector best_need(const std::vector<std::size_t>& known, double level_gbps) {
    std::vector<RateVector> offers;
    std::optional<RateVector> now;
    double crossing = std::numeric_limits<double>::infinity();
    for (const std::size_t i : known) {
      const RateVector mine = options_.rates_of(*nodes_[i].machine, choices_[i].chips);
      now = now ? meet(*now, mine) : mine;
      crossing = std::min(crossing, mine.rail_sum());
      for (const ChipOption& option : options_.of(*nodes_[i].machine, nodes_[i].with_chips()))
        offers.push_back(option.rates);
    }
    // Without a common rail rings change rails in the network: chips that are as fast without that
    // are better.
    const double gbps =
        now->rail_sum() > 0 ? gbps_of(*now, true) : std::min(now->chips, crossing) - 2 * kSameRate;
    RateSearch search(std::move(offers), true, level_gbps);
    const auto better = search.best(std::min(level_gbps, gbps),
                                    [this](const RateVector& rates) { return met(rates); });
    return better ? *better : *now;
  }
  // Other chips for a node that offers less, or whose chips have no near adapter while others do.
  void meet_need(std::size_t i, RateVector need) {
    const NodeMachine& machine = *nodes_[i].machine;
    const ChipSet alone = choices_[i].chips;
    const RateVector mine = options_.rates_of(machine, alone);
    const bool meets = mine.covers(need);
    const int far = options_.far_chips(machine, alone);
    if (meets && far == 0) return;
    if (meets) need.chips = mine.chips;
    std::vector<ChipSet> sets = options_.sets(machine, nodes_[i].with_chips(), need);
    int least = meets ? far : static_cast<int>(limits::kMaxChips);
    for (const ChipSet set : sets) least = std::min(least, options_.far_chips(machine, set));
    if (meets && least == far) return;
    std::erase_if(sets, [&](ChipSet set) { return options_.far_chips(machine, set) > least; });
    GroupChoice better = choose(nodes_[i], std::move(sets));
    if (better.fits) choices_[i] = std::move(better);
  }
  bool met(const RateVector& need) {
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const UsedNode& node) {
      if (node.machine == nullptr || node.with_chips().empty()) return true;
      const auto& options = options_.of(*node.machine, node.with_chips());
      return std::any_of(options.begin(), options.end(),
                         [&need](const ChipOption& option) { return option.rates.covers(need); });
    });
  }

  const std::vector<UsedNode>& nodes_;
  ChipOptions options_;
  bool distributed_;
  domain::Objective objective_;
  std::vector<GroupChoice> choices_;  // by node
};

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
                        const Gang& gang, const NodeMachines& machines,
                        const std::vector<std::optional<double>>& level_gbps) {
  Plan plan = plan_gang(fabric, level_names, gang);
  if (!plan.fits) {
    if (std::string why = illegal_size(fabric, gang, machines); !why.empty())
      plan.reason = std::move(why);
    return plan;
  }
  if (machines.empty() || !is_uniform(gang) || gang.failed) return plan;
  if (gang.objective == domain::Objective::latency) return plan;
  plan = fastest_plan(fabric, level_names, gang, machines, level_gbps, std::move(plan));
  return gang.objective == domain::Objective::all_to_all
             ? exchange_shares(fabric, gang, machines, std::move(plan))
             : plan;
}

ChipPlan assign_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                      const Gang& gang, const NodeMachines& machines,
                      const std::vector<std::optional<double>>& level_gbps, Plan plan) {
  ChipPlan out;
  out.plan = std::move(plan);
  if (!out.plan.fits || machines.empty()) return out;
  out.chips.resize(out.plan.pods.size());
  out.rings.resize(out.plan.pods.size());
  const std::vector<UsedNode> nodes = used_nodes(out.plan, gang, machines);
  GangChips chosen(nodes, machines, out.plan.pods.size() > 1, gang.objective,
                   least_level_gbps(out.plan, level_gbps));
  Rings rings;
  GangShape shape;
  std::vector<AllToAllNode> exchange;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    AllToAllNode& exchanging = exchange.emplace_back();
    NodeBandwidth& node = shape.nodes.emplace_back();
    node.name = fabric.node(nodes[i].id).name;
    node.chips = std::accumulate(nodes[i].sizes.begin(), nodes[i].sizes.end(), 0);
    exchanging.name = node.name;
    exchanging.chips = node.chips;
    if (nodes[i].machine == nullptr) {
      node.set_gbps = std::nullopt;
      node.rails.unknown = "the machine is not known";
      continue;
    }
    const GroupChoice& choice = chosen.choices()[i];
    if (!choice.fits) {
      ChipPlan none;
      none.plan = domain::refused_plan(
          "the chips of " + node.name +
          " that are free cannot be split among its pods by the vendor's rules");
      none.plan.optimal = false;
      return none;
    }
    for (std::size_t k = 0; k < nodes[i].pods.size(); ++k) {
      out.chips[nodes[i].pods[k]] = nodes[i].machine->topology->indices(choice.parts[k]);
      out.rings[nodes[i].pods[k]] = rings.of(*nodes[i].machine, choice.parts[k]);
    }
    const domain::NodeTopology& topology = *nodes[i].machine->topology;
    node.set_gbps = choice.gbps;
    node.rails = chosen.rails(i);
    node.reduction_gbps = reduction_gbps(topology, choice.chips, choice.gbps);
    shape.trees = topology.vendor() == "nvidia";
    exchanging.inside_gbps = nodes[i].machine->machine->all_to_all_gbps(choice.chips);
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
  return out;
}

}  // namespace chipweave::solver
