#include "cli/whatif/gang_places.hpp"

#include <algorithm>
#include <string>

#include "cli/plan/plan_engine.hpp"
#include "common/solver/gang/chips/chip_plan.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipSet;

codec::PlanRequest request_of(const PodNeed& need, int pods, int least) {
  codec::PlanRequest out;
  out.levels = {"hostname"};
  out.switch_levels = 1;
  out.level_gbps.resize(1);
  out.gang.pods = pods;
  out.gang.chips_per_pod = need.chips;
  out.gang.min_member = least;
  out.gang.objective = need.objective;
  return out;
}

bool takes(const ClusterModel::Node& node, const PodNeed& need) {
  return node.out_of_use.empty() &&
         std::binary_search(node.resources.begin(), node.resources.end(), need.resource);
}

}  // namespace

std::vector<Seat> plan_places(const ClusterModel& model, const PodNeed& need, int pods, int least) {
  const codec::PlanRequest request = request_of(need, pods, least);
  PlanEngine::Prepared prepared{solver::Fabric(1), std::nullopt, {}, {}};
  std::vector<std::size_t> positions;  // by number in the fabric
  for (const std::size_t position : model.candidates()) {
    const ClusterModel::Node& node = model.nodes()[position];
    if (!takes(node, need)) continue;
    const auto id = prepared.fabric.add(node.name, {node.name});
    if (!id) continue;
    positions.push_back(position);
    const ChipSet free = node.free - node.unhealthy - node.network_unhealthy;
    const ChipSet loaded = node.machine->topology().all() - node.free - node.unhealthy;
    prepared.fabric.set_free(*id, free.size());
    const std::shared_ptr<const domain::NodeTopology> topology(node.machine,
                                                               &node.machine->topology());
    solver::NodeMachine machine{node.machine, topology, free};
    machine.loaded = loaded;
    prepared.machines.emplace(*id, std::move(machine));
  }
  solver::limit_by_chips(prepared.fabric, prepared.machines, request.gang);
  const auto decided = PlanEngine::decide(request, prepared);
  if (!decided || !decided->plan.fits) return {};
  std::vector<Seat> out;
  for (std::size_t i = 0; i < decided->plan.pods.size(); ++i) {
    Seat& seat = out.emplace_back();
    seat.node = positions[decided->plan.pods[i].node];
    const domain::NodeTopology& topology = model.nodes()[seat.node].machine->topology();
    ChipSet chips;
    for (const int index : decided->details.chips[i])
      if (const auto slot = topology.slot_of(domain::ChipIndex{index})) chips.insert(*slot);
    seat.parts = {chips};
  }
  return out;
}

}  // namespace chipweave::cli
