#include "scheduler-plugin/app/gangs/planning/nodes/legal_pods.hpp"

#include <cstddef>
#include <vector>

#include "common/solver/gang/chips/legal_split.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxKnown = 16384;
// For one count; beyond it the pods count as fitting.
constexpr std::uint64_t kSplitSteps = 200'000;

bool has_rules(const domain::NodeTopology& topology) {
  return topology.rule().kind != domain::RuleKind::any || !topology.partitions().empty();
}

}  // namespace

int LegalPods::on(const Node& node, ChipSet free, int chips, bool distributed) {
  if (!has_rules(node.topology)) return solver::kUnlimitedPods;
  if (known_.size() >= kMaxKnown) known_.clear();
  const auto [known, fresh] =
      known_.try_emplace({node.wiring.get(), free.bits(), chips, distributed}, 0);
  for (int pods = free.size() / chips; fresh && pods > 0; --pods) {
    std::uint64_t steps = kSplitSteps;
    const std::vector<int> sizes(static_cast<std::size_t>(pods), chips);
    if (!solver::splits_legally(*node.wiring, free, sizes, distributed, steps).value_or(true))
      continue;
    known->second = pods;
    break;
  }
  return known->second;
}

}  // namespace chipweave::sched
