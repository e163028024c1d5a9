// Order of moves — in which steps they can be carried out while the cluster runs: a pod starts on
// its new node when the chips there are free, so some wait until others have left.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/domain/chip_set.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct MoveToOrder {
  FabricNodeId from = kNowhere;
  FabricNodeId to = kNowhere;
  int chips = 0;
  int released = 0;              // chips that `from` has free afterwards
  domain::ChipSet from_chips{};  // where the nodes' chips are known
  domain::ChipSet to_chips{};
};

struct MoveStep {
  int step = 0;  // from 1; the pods of a step start at once, when those of earlier steps have moved
  // Pods wait for each other in a circle: this one is stopped before the first step, and starts in
  // its step.
  bool stop_first = false;
};

// fabric: as it is before the moves. free_chips: of nodes whose chips are known. Cost: O(moves) a
// step.
std::vector<MoveStep> order_moves(
    const Fabric& fabric, const std::vector<MoveToOrder>& moves,
    const std::unordered_map<FabricNodeId, domain::ChipSet>& free_chips = {});

}  // namespace chipweave::solver
