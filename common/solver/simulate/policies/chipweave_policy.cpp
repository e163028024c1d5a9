#include "common/solver/simulate/policies/chipweave_policy.hpp"

#include <map>
#include <tuple>

#include "common/solver/simulate/policies/lowest_node.hpp"

namespace chipweave::simulate {
namespace {

solver::Room room_of(const ModelNode& node) {
  return solver::Room::offered(node.cpu_milli, node.memory_mib);
}

// In the order of their first node.
std::vector<solver::EmptyNodes> kinds_of(const ModelCluster& cluster) {
  std::map<std::tuple<const solver::Machine*, std::uint64_t, solver::Room>, std::size_t> numbers;
  std::vector<solver::EmptyNodes> kinds;
  for (const ModelNode& node : cluster.empty_nodes()) {
    if (node.machine == nullptr) continue;
    solver::Machine& machine = *node.machine;
    const solver::Room room = room_of(node);
    const auto [it, fresh] = numbers.try_emplace({&machine, node.free.bits(), room}, kinds.size());
    if (fresh) {
      kinds.push_back(
          {node.free.size(), machine.open_sizes(node.free), machine.whole_gbps(), room, 0});
    }
    ++kinds[it->second].nodes;
  }
  return kinds;
}

}  // namespace

ChipweavePolicy::ChipweavePolicy(const PolicyContext& context)
    : context_(context), kinds_(kinds_of(context.cluster)) {}

std::optional<Spot> ChipweavePolicy::place_without_chips(const PodShape& pod,
                                                         std::span<const std::size_t> nodes) const {
  const auto node =
      lowest_node(context_.cluster, pod, nodes, [&](std::size_t i, const ModelNode& candidate) {
        const int level =
            context_.managed_only ? 0 : solver::level_without_chips(candidate.free.size());
        return NodeKey{-static_cast<double>(level),
                       -free_share(candidate, context_.cluster.empty_nodes()[i], pod)};
      });
  if (!node) return std::nullopt;
  return Spot{*node, {}};
}

std::optional<Spot> ChipweavePolicy::place(const domain::TracePod& pod,
                                           std::span<const std::size_t> nodes) {
  const PodShape shape = shape_of(pod);
  if (shape.chips == 0) return place_without_chips(shape, nodes);
  const solver::NodePreference& preference = context_.preference;
  const double ceiling = preference.ceiling(shape.chips, false, pod.needs_gbps.value_or(0));
  const solver::Room needs = solver::Room::needed(shape.cpu_milli, shape.memory_mib);
  demand_.add({shape.chips, needs});
  if (demand_.due()) demand_.refresh(kinds_);
  inputs_.clear();
  spots_.clear();
  for (const std::size_t i : nodes) {
    const ModelNode& node = context_.cluster.nodes()[i];
    if (!node.has_room(shape)) continue;
    const domain::ChipSet others = node.machine->topology().all() - node.free;
    const solver::Choice choice = node.machine->choose(
        {node.free, {}, {}, shape.chips, false, domain::Objective::bandwidth, others});
    if (!choice.fits) continue;
    inputs_.push_back(
        solver::score_input(solver::offer_of(*node.machine, node.free, choice.chips, choice.gbps,
                                             demand_.demand(), room_of(node), needs),
                            ceiling, static_cast<std::uint32_t>(i)));
    spots_.push_back({i, choice.chips});
  }
  if (spots_.empty()) return std::nullopt;
  const solver::NodeOrder order(inputs_, preference.tolerance);
  return spots_[solver::best_node(inputs_, order)];
}

}  // namespace chipweave::simulate
