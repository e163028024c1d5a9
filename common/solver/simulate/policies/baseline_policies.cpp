#include "common/solver/simulate/policies/baseline_policies.hpp"

#include "common/solver/chips/baselines.hpp"

namespace chipweave::simulate {

std::optional<Spot> BaselinePolicy::place(const domain::TracePod& pod,
                                          std::span<const std::size_t> nodes) {
  const PodShape shape = shape_of(pod);
  const auto node = lowest_node(
      context_.cluster, shape, nodes,
      [&](std::size_t i, const ModelNode& candidate) { return key(i, candidate, shape); });
  if (!node) return std::nullopt;
  return Spot{*node, chips(context_.cluster.nodes()[*node], shape.chips)};
}

ChipSet BaselinePolicy::chips(const ModelNode& node, int size) {
  return solver::choose_first_fit(node.free, size).value_or(ChipSet());
}

NodeKey FirstFit::key(std::size_t, const ModelNode&, const PodShape&) { return {}; }

NodeKey BestFit::key(std::size_t, const ModelNode& node, const PodShape& pod) {
  return {static_cast<double>(node.free.size()),
          static_cast<double>(node.cpu_milli - pod.cpu_milli)};
}

ChipSet PairSum::chips(const ModelNode& node, int size) {
  if (size < 2) return BestFit::chips(node, size);
  const auto sum = solver::choose_by_pair_sum(node.machine->topology(), node.free, size);
  return sum ? *sum : BestFit::chips(node, size);
}

NodeKey Spread::key(std::size_t index, const ModelNode& node, const PodShape& pod) {
  const double share = free_share(node, context().cluster.empty_nodes()[index], pod);
  return {pod.chips > 0 ? -static_cast<double>(node.free.size()) : 0, -share};
}

}  // namespace chipweave::simulate
