// NodeLoss — what the failure or the draining of nodes does: which pods lose their chips, where
// they would fit then, which gangs break, and what is free before and after.
//
// The pods that lose their chips are placed together, the largest first, each where the scheduler
// would place it, with the chips of the earlier ones taken. Of a gang at least as many are placed
// as it lacks to run, or none; its other members stay where they are. No other pod ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/whatif/cluster_model.hpp"

namespace chipweave::cli {

enum class LossKind {
  fail,  // the nodes are gone, and all their pods at once
  drain  // the nodes take no pods any more, and theirs end one by one
};

struct NewPlace {
  std::string node;
  std::vector<int> chips;
  double gbps = 0;
  double best_gbps = 0;
};

struct LostPod {
  std::string ns;
  std::string name;
  std::string resource;
  int requested = 0;  // chips
  std::string gang;   // of its namespace; empty: none
  std::string node;
  std::vector<int> chips;
  double gbps = 0;  // before
  std::optional<NewPlace> to;
  std::string reason;  // why it finds no place; empty: it does
};

// A gang that the scheduler plans as a whole and that loses pods.
struct AffectedGang {
  std::string ns;
  std::string name;
  int bound = 0;   // pods that have a node now
  int lost = 0;    // of them
  int placed = 0;  // of the lost ones
  int quorum = 0;  // so many must run together
  bool stops() const { return bound - lost < quorum; }
  bool fits() const { return bound - lost + placed >= quorum; }
};

struct NodeLoss {
  LossKind kind = LossKind::fail;
  std::vector<std::string> nodes;
  std::vector<LostPod> pods;  // in the order in which they are placed
  std::vector<AffectedGang> gangs;
  // Pods on the nodes that use parts of chips, "namespace/name"; no place is looked for.
  std::vector<std::string> with_parts;
  int free_before = 0;   // chips, of all nodes
  int free_without = 0;  // of the other nodes
  int free_after = 0;    // of these, with the pods in their new places

  bool all_fit() const;
};

// What the scheduler knows.
struct LiveState {
  std::vector<codec::NodeView> nodes;
  std::vector<codec::PodSummary> pods;
  std::vector<codec::GangSummary> gangs;
};

// Errors: as ClusterModel::of(); a name in `lost` is not that of a node.
Result<NodeLoss> lose_nodes(const LiveState& live, const std::vector<std::string>& lost,
                            LossKind kind);

std::string node_loss_text(const NodeLoss& loss, bool colours);
std::string node_loss_json(const NodeLoss& loss);

}  // namespace chipweave::cli
