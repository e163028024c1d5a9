#include "common/solver/gang/chips/machine_fit.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace chipweave::solver {

void MachineFit::add(FabricNodeId node, std::shared_ptr<Machine> machine, ChipSet free) {
  const domain::NodeTopology& topology = machine->topology();
  if (topology.rule().kind == domain::RuleKind::any && topology.partitions().empty()) return;
  nodes_.emplace(node, Node{std::move(machine), free});
}

MachineFit::Key MachineFit::key_of(FabricNodeId id, std::vector<int> sizes) const {
  const Node& node = nodes_.at(id);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return {node.machine.get(), node.free.bits(), std::move(sizes)};
}

bool MachineFit::fits(FabricNodeId id, std::vector<int> sizes) {
  if (!restricts(id) || sizes.empty()) return true;
  Key key = key_of(id, std::move(sizes));
  if (forbidden_.contains(key)) return false;
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  const Node& node = nodes_.at(id);
  const std::uint64_t given = std::min(kMaxSteps, steps_left_);
  std::uint64_t left = given;
  const bool fit =
      splits_legally(*node.machine, node.free, std::get<2>(key), distributed_, left).value_or(true);
  steps_left_ -= given - left;
  if (known_.size() >= kMaxKnown) known_.clear();
  known_.emplace(std::move(key), fit);
  return fit;
}

void MachineFit::forbid(FabricNodeId id, std::vector<int> sizes) {
  if (restricts(id)) forbidden_.insert(key_of(id, std::move(sizes)));
}

}  // namespace chipweave::solver
