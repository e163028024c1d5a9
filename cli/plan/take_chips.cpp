#include "cli/plan/take_chips.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "common/solver/gang/planner.hpp"

namespace chipweave::cli {
namespace {

struct Taken {
  int pods = 0;
  int count = 0;           // chips
  std::vector<int> chips;  // their indices, where the machine is known
};

void take(const Taken& taken, bool communicates, const solver::NodeMachine* machine,
          codec::PlanNode& node) {
  if (node.max_pods >= 0) node.max_pods = std::max(node.max_pods - taken.pods, 0);
  if (machine == nullptr) {
    node.free = std::max(node.free - taken.count, 0);
    return;
  }
  if (!node.free_chips) node.free_chips = machine->topology->indices(machine->topology->all());
  std::erase_if(*node.free_chips, [&taken](int chip) {
    return std::find(taken.chips.begin(), taken.chips.end(), chip) != taken.chips.end();
  });
  node.free = static_cast<int>(node.free_chips->size());
  if (node.loaded_chips && communicates)
    node.loaded_chips->insert(node.loaded_chips->end(), taken.chips.begin(), taken.chips.end());
}

}  // namespace

void take_chips(const PlanEngine::Decided& decided, const codec::PlanRequest& from,
                const PlanEngine::Prepared& prepared, codec::PlanRequest& to) {
  std::map<domain::GangNodeId, Taken> by_node;
  for (std::size_t i = 0; i < decided.plan.pods.size(); ++i) {
    const domain::PlannedPod& pod = decided.plan.pods[i];
    Taken& taken = by_node[pod.node];
    ++taken.pods;
    taken.count += from.gang.chips_of(pod.pod, pod.set);
    if (i >= decided.details.chips.size()) continue;
    const std::vector<int>& chips = decided.details.chips[i];
    taken.chips.insert(taken.chips.end(), chips.begin(), chips.end());
  }
  for (const auto& [node, taken] : by_node) {
    const auto machine = prepared.machines.find(node);
    take(taken, solver::nodes_used(decided.plan) > 1,
         machine == prepared.machines.end() ? nullptr : &machine->second, to.nodes[node]);
  }
}

}  // namespace chipweave::cli
