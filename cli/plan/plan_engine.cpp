#include "cli/plan/plan_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "common/solver/gang/ranks/chip_order.hpp"
#include "common/solver/gang/ranks/communicator_plan.hpp"
#include "common/solver/vendor/vendor_plan.hpp"

namespace chipweave::cli {
namespace {

// If the accelerators' domains do not nest in the switches', a switch domain was counted once for
// each of them that it spans. Corrects the counts; the plan is then not proven optimal.
void count_switches(std::size_t accelerator_levels, const solver::Fabric& switches,
                    domain::Gang gang, domain::Plan& plan) {
  if (gang.failed)
    for (const domain::GangNodeId node : *gang.failed) gang.existing.erase(node);
  const std::vector<int> counts = solver::count_domains(switches, gang, plan.pods);
  std::copy(counts.begin(), counts.end(),
            plan.domains.begin() + static_cast<std::ptrdiff_t>(accelerator_levels));
  plan.optimal = false;
  plan.bound.assign(plan.domains.size(), 1);
}

// MB/s are more than a prediction says.
double rounded(double gbps) { return std::round(gbps * 1000) / 1000; }

std::vector<codec::PlanTerm> terms_of(const solver::ChipPlan& plan) {
  const solver::GangBandwidth& bandwidth = plan.bandwidth;
  std::vector<codec::PlanTerm> out;
  if (bandwidth.gbps) out.push_back({"gbps", bandwidth.gbps, ""});
  if (!bandwidth.limit_text.empty()) out.push_back({"limit", std::nullopt, bandwidth.limit_text});
  if (bandwidth.chips) out.push_back({"chips", bandwidth.chips, ""});
  if (!bandwidth.slowest_node.empty())
    out.push_back({"slowest_node", std::nullopt, bandwidth.slowest_node});
  if (bandwidth.rails) out.push_back({"rails", bandwidth.rails, ""});
  for (const solver::LevelBandwidth& level : bandwidth.levels)
    if (level.gbps) out.push_back({"level " + level.name, level.gbps, ""});
  if (plan.all_reduce) {
    out.push_back({"all_reduce", rounded(plan.all_reduce->gbps), ""});
    out.push_back({"all_reduce_algorithm", std::nullopt, plan.all_reduce->algorithm});
    if (!plan.all_reduce->limit.empty())
      out.push_back({"all_reduce_limit", std::nullopt, plan.all_reduce->limit});
  }
  if (plan.all_to_all.gbps) {
    out.push_back({"all_to_all", rounded(*plan.all_to_all.gbps), ""});
    out.push_back({"all_to_all_limit", std::nullopt, plan.all_to_all.limit});
  }
  if (!bandwidth.left_out.empty())
    out.push_back({"left_out", std::nullopt, joined(bandwidth.left_out, "; ")});
  return out;
}

Result<domain::ChipSet> slots_of(const std::vector<int>& indices,
                                 const domain::NodeTopology& topology, const std::string& machine) {
  domain::ChipSet out;
  for (const int index : indices) {
    const auto slot = topology.slot_of(domain::ChipIndex{index});
    if (!slot)
      return make_error(Errc::invalid_argument, machine + " has no chip " + std::to_string(index));
    out.insert(*slot);
  }
  return out;
}

// The positions of the adapters with these names, ascending.
Result<std::vector<int>> adapters_of(const std::vector<std::string>& names,
                                     const domain::NodeTopology& topology,
                                     const std::string& machine) {
  std::vector<int> out;
  for (const std::string& name : names) {
    const auto& nics = topology.nics();
    const auto at = std::find_if(nics.begin(), nics.end(),
                                 [&name](const domain::Nic& nic) { return nic.name == name; });
    if (at == nics.end())
      return make_error(Errc::invalid_argument, machine + " has no adapter " + in_quotes(name));
    out.push_back(static_cast<int>(at - nics.begin()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Equal numbers for nodes with the same leaf for each interface.
solver::RailLeaves leaves_of(const codec::PlanRequest& request) {
  solver::RailLeaves out;
  std::map<std::vector<std::string>, int> numbers;
  for (const codec::PlanNode& node : request.nodes) {
    const bool known = !node.rails.empty();
    const auto next = static_cast<int>(numbers.size());
    out.push_back(known ? numbers.try_emplace(node.rails, next).first->second : solver::kNoLeaves);
  }
  if (numbers.size() < 2) out.clear();
  return out;
}

codec::PlanRanks ranks_of(const solver::CommunicatorPlan& plan) {
  codec::PlanRanks out;
  out.refused = plan.ranks_refused;
  if (!plan.ranks) return out;
  const solver::RankOrder& order = *plan.ranks;
  out.levels = order.levels;
  out.ring = order.ring;
  out.weighted = order.weighted;
  out.depth_first_weighted = order.depth_first_weighted;
  out.optimal = order.optimal;
  for (const domain::Communicator& one : order.communicators) out.names.push_back(one.name);
  out.crossings = order.crossings;
  return out;
}

// By position in the plan's pods; empty unless each of the pod's chips is a rank.
std::vector<std::vector<int>> rank_chips(const domain::Gang& gang, const solver::RankOrder& ranks,
                                         const PlanEngine::Prepared& prepared,
                                         const PlanEngine::Decided& decided) {
  const std::int64_t each = gang.communicators->ranks_per_pod;
  solver::ChipOrder order(ranks.communicators);
  std::vector<std::vector<int>> out(decided.plan.pods.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::vector<int>& chips = decided.details.chips[i];
    if (static_cast<std::int64_t>(chips.size()) != each || each < 2) continue;
    const domain::PlannedPod& pod = decided.plan.pods[i];
    const domain::NodeTopology& topology = *prepared.machines.at(pod.node).topology;
    domain::ChipSet set;
    for (const int index : chips) set.insert(*topology.slot_of(domain::ChipIndex{index}));
    for (const int slot : order.of(topology, set, pod.rank * each))
      out[i].push_back(topology.chip(slot).index.value);
  }
  return out;
}

// The chips of the gang's pods that stay on the node.
Result<domain::ChipSet> held_chips(const codec::PlanNode& node, const domain::Gang& gang,
                                   domain::GangNodeId id, const domain::NodeTopology& topology) {
  const auto here = gang.existing.find(id);
  const bool lost =
      gang.failed && std::find(gang.failed->begin(), gang.failed->end(), id) != gang.failed->end();
  if (here == gang.existing.end() || lost) return domain::ChipSet();
  auto held = slots_of(here->second.chips, topology, node.machine);
  if (!held)
    return std::move(held).error().in("chips").in("gang.existing." + codec::joined_path(node.path));
  return held;
}

}  // namespace

// Its chips that the gang may use: no unhealthy ones, as `place` does.
Result<solver::NodeMachine> PlanEngine::machine_of(const codec::PlanNode& node,
                                                   const domain::Gang& gang,
                                                   domain::GangNodeId id) {
  std::shared_ptr<solver::Machine>& machine = machines_[node.machine];
  if (machine == nullptr) {
    auto made = io::load_machine(node.machine);
    if (!made) return std::move(made).error().in("machine").in("network.nodes." + node.name);
    add_machine(node.machine, made->topology);
  }
  const std::shared_ptr<const domain::NodeTopology> topology(machine, &machine->topology());
  domain::ChipSet unusable = topology->unhealthy();
  if (gang.size() > 1) unusable |= topology->network_unhealthy();
  solver::NodeMachine out{machine, topology, topology->all() - unusable};
  const std::string where = "network.nodes." + node.name;
  if (auto held = held_chips(node, gang, id, *topology)) {
    out.held = *held;
    out.held_known = !held->empty();
  } else {
    return std::move(held).error();
  }
  out.free -= out.held;
  if (node.free_chips) {
    auto free = slots_of(*node.free_chips, *topology, node.machine);
    if (!free) return std::move(free).error().in("free_chips").in(where);
    if (const domain::ChipSet both = *free & out.held; !both.empty())
      return make_error(Errc::invalid_argument,
                        "has chip " + std::to_string(topology->indices(both).front()) +
                            ", which a running pod of the gang holds")
          .in("free_chips")
          .in(where);
    out.free = *free - unusable;
    out.loaded = topology->all() - *free - topology->unhealthy() - out.held;
  }
  if (node.loaded_chips) {
    auto loaded = slots_of(*node.loaded_chips, *topology, node.machine);
    if (!loaded) return std::move(loaded).error().in("loaded_chips").in(where);
    out.loaded = *loaded - out.free - out.held;
  }
  auto down = adapters_of(node.down_nics, *topology, node.machine);
  if (!down) return std::move(down).error().in("down_nics").in(where);
  out.down_nics = *std::move(down);
  return out;
}

void PlanEngine::add_machine(std::string name, const domain::NodeTopology& topology) {
  machines_[std::move(name)] =
      std::make_shared<solver::Machine>(domain::calibrated(topology, overlays_));
}

Result<PlanEngine::Prepared> PlanEngine::prepare(const codec::PlanRequest& request) {
  Prepared out{solver::Fabric(request.levels.size()), std::nullopt, {}, {}};
  if (!request.nested) out.switches.emplace(request.switch_levels);
  for (const codec::PlanNode& node : request.nodes) {
    const auto id = out.fabric.add(node.name, node.place);
    if (!id) return Error(id.error());
    if (out.switches) (void)out.switches->add(node.name, node.path);
    out.fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) out.fabric.set_max_pods(*id, node.max_pods);
    out.fabric.set_healthy(*id, node.healthy);
    if (node.machine.empty()) continue;
    auto machine = machine_of(node, request.gang, *id);
    if (!machine) return std::move(machine).error();
    out.fabric.set_free(*id, machine->free.size());
    out.machines.emplace(*id, *std::move(machine));
  }
  solver::limit_by_chips(out.fabric, out.machines, request.gang);
  out.leaves = leaves_of(request);
  return out;
}

Result<PlanEngine::Decided> PlanEngine::decide(const codec::PlanRequest& request,
                                               const Prepared& prepared) {
  Decided out;
  const auto plan = [&](const solver::Fabric& fabric,
                        const domain::Gang& gang) -> Result<domain::Plan> {
    domain::Plan made;
    if (request.vendor) {
      auto planned = solver::plan_vendor_gang(fabric, request.levels, gang, *request.vendor);
      if (!planned) return std::move(planned).error();
      made = std::move(planned->plan);
      out.details.leaves = std::move(planned->leaves);
    } else {
      made = solver::plan_on_best_nodes(fabric, request.levels, gang, prepared.machines,
                                        request.level_gbps, prepared.leaves);
    }
    if (prepared.switches && made.fits)
      count_switches(request.accelerator_levels, *prepared.switches, gang, made);
    return made;
  };
  auto planned = solver::plan_with_communicators(prepared.fabric, request.levels, request.gang,
                                                 prepared.machines, request.level_gbps, plan);
  if (!planned) return std::move(planned).error();
  solver::ChipPlan& chips = planned->chips;
  out.plan = std::move(chips.plan);
  out.details.chips = std::move(chips.chips);
  out.details.rings = std::move(chips.rings);
  if (out.plan.fits) out.details.rail_leaf_sets = solver::leaf_sets(prepared.leaves, out.plan);
  if (out.plan.fits && request.gang.communicators) out.details.ranks = ranks_of(*planned);
  if (!out.plan.fits || prepared.machines.empty()) return out;
  out.details.bandwidth = terms_of(chips);
  if (planned->ranks)
    out.details.rank_chips = rank_chips(request.gang, *planned->ranks, prepared, out);
  if (request.gang.objective == domain::Objective::all_to_all)
    out.details.crossing_pairs = chips.all_to_all.crossing_pairs;
  return out;
}

codec::PlanOutcome outcome_of(const PlanEngine::Decided& decided) {
  codec::PlanOutcome out;
  out.fits = decided.plan.fits;
  out.reason = decided.plan.reason;
  if (!out.fits) return out;
  out.placed = static_cast<int>(decided.plan.pods.size());
  out.nodes = solver::nodes_used(decided.plan);
  out.domains = decided.plan.domains;
  for (const codec::PlanTerm& term : decided.details.bandwidth)
    if (term.name == "gbps") out.gbps = term.gbps;
  return out;
}

}  // namespace chipweave::cli
