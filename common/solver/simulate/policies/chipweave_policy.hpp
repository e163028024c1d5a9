// What chipweave-scheduler decides, by the same code: chips by Machine::choose, the node by
// node_score.hpp.
//
// kube-scheduler has filtered out nodes with too little CPU or memory before. As in a cluster,
// chipweave knows how much of both is free, and of other pods only those that came before. Pods
// without chips go where chipweave's score for them sends them, if kube-scheduler asks for it, and
// among equals where kube-scheduler prefers.
#pragma once

#include <vector>

#include "common/solver/nodes/demand_estimate.hpp"
#include "common/solver/simulate/policies/policy.hpp"

namespace chipweave::simulate {

class ChipweavePolicy : public Policy {
 public:
  explicit ChipweavePolicy(const PolicyContext& context);
  std::optional<Spot> place(const domain::TracePod& pod,
                            std::span<const std::size_t> nodes) override;

 private:
  std::optional<Spot> place_without_chips(const PodShape& pod,
                                          std::span<const std::size_t> nodes) const;

  PolicyContext context_;
  std::vector<solver::EmptyNodes> kinds_;  // of the empty cluster
  solver::DemandEstimate demand_;
  std::vector<solver::ScoreInput> inputs_;  // of the candidates of one pod
  std::vector<Spot> spots_;
};

}  // namespace chipweave::simulate
