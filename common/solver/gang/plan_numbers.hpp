// From placed pods to a Plan: pod numbers, ranks and the domains used.
#pragma once

#include <map>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// A pod that has a node but no rank yet.
struct PodOnNode {
  FabricNodeId node = kNowhere;
  int pod = 0;
  int set = domain::kNoSet;
};

// Adds the pods to the plan with their ranks: depth-first over the tree, so that every domain holds
// one run of consecutive ranks. Ranks of running pods are skipped; where they are not listed,
// running pods are assumed to have the lowest ones. O(pods (levels + log pods)).
void number_ranks(const Fabric& fabric, const domain::Gang& gang, std::vector<PodOnNode> pods,
                  domain::Plan& plan);

// The plan of interchangeable pods with so many of them on each node instead, numbered afresh.
domain::Plan with_shares(const Fabric& fabric, const domain::Gang& gang, domain::Plan plan,
                         const std::map<FabricNodeId, int>& shares);

// By level, the number of distinct domains of these pods and the gang's running ones.
std::vector<int> count_domains(const Fabric& fabric, const domain::Gang& gang,
                               const std::vector<domain::PlannedPod>& pods);

// By level, a lower bound of the domains of any plan for so many chips: those with the most free
// chips, after the domains of running pods. O(nodes levels + domains log domains).
std::vector<int> fewest_by_chips(const Fabric& fabric, const domain::Gang& gang,
                                 std::int64_t chips);

}  // namespace chipweave::solver
