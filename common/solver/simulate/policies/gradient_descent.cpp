#include "common/solver/simulate/policies/gradient_descent.hpp"

#include <algorithm>

#include "common/solver/chips/baselines.hpp"

namespace chipweave::simulate {

GradientDescent::GradientDescent(const PolicyContext& context) : BaselinePolicy(context) {
  for (std::size_t i = 0; i < context.mix.size(); ++i) classes_[context.mix[i].shape] = i;
  growth_.assign(context.cluster.nodes().size() * context.mix.size(), kOpen);
}

void GradientDescent::changed(std::size_t node) {
  const auto from = growth_.begin() + static_cast<std::ptrdiff_t>(node * classes_.size());
  std::fill(from, from + static_cast<std::ptrdiff_t>(classes_.size()), kOpen);
}

NodeKey GradientDescent::key(std::size_t index, const ModelNode& node, const PodShape& pod) {
  return {growth(index, node, pod), static_cast<double>(node.free.size())};
}

double GradientDescent::growth(std::size_t index, const ModelNode& node, const PodShape& pod) {
  const auto known = classes_.find(pod);
  if (known == classes_.end()) return computed(index, node, pod);
  double& kept = growth_[index * classes_.size() + known->second];
  if (kept == kOpen) kept = computed(index, node, pod);
  return kept;
}

double GradientDescent::computed(std::size_t index, const ModelNode& node,
                                 const PodShape& pod) const {
  ModelNode after;
  after.free = node.free - solver::choose_first_fit(node.free, pod.chips).value_or(ChipSet());
  after.cpu_milli = node.cpu_milli - pod.cpu_milli;
  after.memory_mib = node.memory_mib - pod.memory_mib;
  return context().fragmentation.of(after) - context().fragmentation.of(index);
}

}  // namespace chipweave::simulate
