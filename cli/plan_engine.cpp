#include "cli/plan_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/vendor/vendor_plan.hpp"

namespace chipweave::cli {
namespace {

// If the accelerators' domains do not nest in the switches', a switch domain was counted once for
// each of them that it spans. Corrects the counts; the plan is then not proven optimal.
void count_switches(const codec::PlanRequest& request, const solver::Fabric& switches,
                    domain::Plan& plan) {
  const std::vector<int> counts = solver::count_domains(switches, request.gang, plan.pods);
  std::copy(counts.begin(), counts.end(),
            plan.domains.begin() + static_cast<std::ptrdiff_t>(request.accelerator_levels));
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

}  // namespace

// Its chips that the gang may use: no unhealthy ones, as `place` does.
Result<solver::NodeMachine> PlanEngine::machine_of(const codec::PlanNode& node,
                                                   const domain::Gang& gang) {
  std::shared_ptr<solver::Machine>& machine = machines_[node.machine];
  if (machine == nullptr) {
    auto made = io::load_machine(node.machine);
    if (!made) return std::move(made).error().in("machine").in("network.nodes." + node.name);
    machine = std::make_shared<solver::Machine>(domain::calibrated(made->topology, overlays_));
  }
  const std::shared_ptr<const domain::NodeTopology> topology(machine, &machine->topology());
  domain::ChipSet unusable = topology->unhealthy();
  if (gang.pods + gang.running_pods() > 1) unusable |= topology->network_unhealthy();
  solver::NodeMachine out{machine, topology, topology->all() - unusable};
  const auto slots = [&](const std::vector<int>& indices,
                         const char* key) -> Result<domain::ChipSet> {
    domain::ChipSet set;
    for (const int index : indices) {
      const auto slot = topology->slot_of(domain::ChipIndex{index});
      if (!slot)
        return make_error(Errc::invalid_argument,
                          node.machine + " has no chip " + std::to_string(index))
            .in(key)
            .in("network.nodes." + node.name);
      set.insert(*slot);
    }
    return set;
  };
  if (node.free_chips) {
    const auto free = slots(*node.free_chips, "free_chips");
    if (!free) return Error(free.error());
    out.free = *free - unusable;
    out.loaded = topology->all() - *free - topology->unhealthy();
  }
  if (node.loaded_chips) {
    const auto loaded = slots(*node.loaded_chips, "loaded_chips");
    if (!loaded) return Error(loaded.error());
    out.loaded = *loaded - out.free;
  }
  for (std::size_t i = 0; i < topology->nics().size(); ++i) {
    if (std::find(node.down_nics.begin(), node.down_nics.end(), topology->nics()[i].name) !=
        node.down_nics.end())
      out.down_nics.push_back(static_cast<int>(i));
  }
  for (const std::string& name : node.down_nics) {
    const auto& nics = topology->nics();
    if (std::none_of(nics.begin(), nics.end(),
                     [&name](const domain::Nic& nic) { return nic.name == name; }))
      return make_error(Errc::invalid_argument, node.machine + " has no adapter " + in_quotes(name))
          .in("down_nics")
          .in("network.nodes." + node.name);
  }
  return out;
}

Result<PlanEngine::Prepared> PlanEngine::prepare(const codec::PlanRequest& request) {
  Prepared out{solver::Fabric(request.levels.size()), std::nullopt, {}};
  if (!request.nested) out.switches.emplace(request.switch_levels);
  for (const codec::PlanNode& node : request.nodes) {
    const auto id = out.fabric.add(node.name, node.place);
    if (!id) return Error(id.error());
    if (out.switches) (void)out.switches->add(node.name, node.path);
    out.fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) out.fabric.set_max_pods(*id, node.max_pods);
    out.fabric.set_healthy(*id, node.healthy);
    if (node.machine.empty()) continue;
    auto machine = machine_of(node, request.gang);
    if (!machine) return std::move(machine).error();
    out.fabric.set_free(*id, machine->free.size());
    out.machines.emplace(*id, *std::move(machine));
  }
  solver::limit_by_chips(out.fabric, out.machines, request.gang);
  return out;
}

Result<PlanEngine::Decided> PlanEngine::decide(const codec::PlanRequest& request,
                                               const Prepared& prepared) {
  Decided out;
  if (request.vendor) {
    auto planned =
        solver::plan_vendor_gang(prepared.fabric, request.levels, request.gang, *request.vendor);
    if (!planned) return std::move(planned).error();
    out.plan = std::move(planned->plan);
    out.details.leaves = std::move(planned->leaves);
  } else {
    out.plan = solver::plan_on_fast_nodes(prepared.fabric, request.levels, request.gang,
                                          prepared.machines, request.level_gbps);
  }
  if (prepared.switches && out.plan.fits) count_switches(request, *prepared.switches, out.plan);
  if (prepared.machines.empty()) return out;
  solver::ChipPlan chips =
      solver::assign_chips(prepared.fabric, request.levels, request.gang, prepared.machines,
                           request.level_gbps, std::move(out.plan));
  out.plan = std::move(chips.plan);
  out.details.chips = std::move(chips.chips);
  out.details.rings = std::move(chips.rings);
  if (out.plan.fits) out.details.bandwidth = terms_of(chips);
  if (out.plan.fits && request.gang.objective == domain::Objective::all_to_all)
    out.details.crossing_pairs = chips.all_to_all.crossing_pairs;
  return out;
}

}  // namespace chipweave::cli
