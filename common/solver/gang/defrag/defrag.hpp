// plan_moves — which running pods to move so that whole domains of a level, or whole nodes, become
// free.
//
// A domain is free when no healthy node in it has chips in use; domains without a healthy node that
// has chips do not count. Pods move whole, to healthy nodes that have the chips and
// accept the pods once all moves are done. A domain that becomes free receives no pod. A free one
// may, but it then counts against the gain.
//
// Of all plans within the limits the best has
// 1. the largest gain: domains free afterwards less domains free before, up to the wanted number,
// 2. the fewest chips of moved pods,
// 3. the fewest moved pods.
// Among equally good plans the first one found counts, in natural order of domains, nodes and pods:
// the order of the input has no influence.
//
// Exact (ExactMoves) while counted steps last; beyond that the best plan of GreedyMoves or of the
// interrupted search, with what no plan can beat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/defrag/move_fit.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct DefragPod {
  std::string name;
  FabricNodeId node = kNowhere;
  int chips = 1;  // at least 1
  // Chips that its node can use again once it has left; at most `chips`.
  int released = 1;
  bool movable = false;
  int keep_level = domain::kNoLevel;  // it stays inside its domain of this level
  bool distributed = false;           // one of several pods of a job
};

struct DefragTarget {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();
  int level = domain::kNoLevel;  // kNoLevel: whole nodes
  int domains = kNoLimit;        // so many more free domains are enough
  int max_moves = kNoLimit;      // pods
};

struct DefragRequest {
  const Fabric* fabric = nullptr;  // with the chips that are free beside the pods
  const std::vector<DefragPod>* pods = nullptr;
  DefragTarget target = {};
  // Nodes with chips in use that belong to none of the pods.
  std::vector<FabricNodeId> occupied = {};
  // By FabricNodeId: pods move between nodes of one group only, such as a vendor's; empty: all are
  // one.
  std::vector<int> groups = {};
  MoveFit* fit = nullptr;  // null: free chips are all that a pod needs
};

struct PodMove {
  std::size_t pod = 0;  // position in the request
  FabricNodeId from = kNowhere;
  FabricNodeId to = kNowhere;
};

struct DefragPlan {
  std::vector<PodMove> moves;  // depth-first by node, then by name
  // Domains that become free, and free ones that receive pods, depth-first: DomainIds of the
  // level, or FabricNodeIds where whole nodes are the target.
  std::vector<std::uint32_t> freed;
  std::vector<std::uint32_t> used_up;
  int free_before = 0;
  int free_after = 0;
  int in_use = 0;      // domains, before
  int candidates = 0;  // of these: all pods may leave, and are no more than max_moves
  std::int64_t chips_moved = 0;
  bool optimal = true;
  // If not proven: no plan gains more domains, and none with this plan's gain moves fewer chips.
  struct Bound {
    int domains = 0;
    std::int64_t chips = 0;
  };
  std::optional<Bound> bound = std::nullopt;
};

// Nodes that the exact search looks at, over all its branches: about half a second.
inline constexpr std::uint64_t kMaxDefragSteps = 4'000'000;

// Precondition: the pods' nodes exist. Cost: O((nodes + pods) log) for the greedy plans, and
// kMaxDefragSteps. max_steps: for tests of what happens beyond them.
DefragPlan plan_moves(const DefragRequest& request, std::uint64_t max_steps = kMaxDefragSteps);

}  // namespace chipweave::solver
