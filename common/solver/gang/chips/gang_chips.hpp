// GangChips — which chips each node of a plan gives to the gang's pods: those with which the whole
// gang is fastest. A node keeps the chips that it would choose alone where the gang is as fast with
// them, and where they are near adapters that are up.
//
// Nodes in the same state with the same pods choose the same, so each such kind chooses once: most
// plans have one or two kinds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/objective.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/rails/chip_options.hpp"

namespace chipweave::solver {

// A node of a plan with its pods.
struct UsedNode {
  FabricNodeId id = kNowhere;
  const NodeMachine* machine = nullptr;  // null: not known
  std::vector<std::size_t> pods = {};    // positions in the plan, in rank order
  std::vector<int> sizes = {};           // chips of each
  int running_chips = 0;                 // of the gang's running pods there

  std::vector<int> with_chips() const;  // the sizes above 0
};

class GangChips {
 public:
  // nodes, machines: must outlive it. level_gbps: no choice of chips makes the gang faster.
  GangChips(const std::vector<UsedNode>& nodes, const NodeMachines& machines, bool distributed,
            domain::Objective objective, double level_gbps);

  // Of a node; does not fit where the free chips cannot be split legally.
  const GroupChoice& choice(std::size_t node) const { return choices_[kind_of_[node]]; }
  // Of the pods' chips and those that running pods hold.
  const NodeRails& rails(std::size_t node);

 private:
  void find_kinds(const std::vector<UsedNode>& nodes);
  GroupChoice choose(const UsedNode& node, const std::vector<ChipSet>& among) const;
  bool fit() const;
  RateVector best_need(const std::vector<std::size_t>& known, double level_gbps);
  void meet_need(std::size_t kind, RateVector need);
  bool met(const RateVector& need);

  std::vector<const UsedNode*> kinds_;  // the first node of each
  std::vector<std::size_t> kind_of_;    // by node
  ChipOptions options_;
  bool distributed_;
  domain::Objective objective_;
  std::vector<GroupChoice> choices_;             // by kind
  std::vector<std::optional<NodeRails>> rails_;  // likewise
};

}  // namespace chipweave::solver
