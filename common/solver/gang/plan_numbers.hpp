// plan_numbers — from "so many pods on that node" to a Plan: which pod, which rank, how many
// domains.
#pragma once

#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// A pod that has its node; number and rank follow.
struct PlacedPod {
  FabricNodeId node = kNowhere;
  int pod = 0;
  int set = domain::kNoSet;
};

// Ranks go depth-first over the tree, so that every domain of every level is one run of them; they
// are those that running pods do not have (known by their lists; counted ones have the lowest).
// O(pods (levels + log pods)).
void number_ranks(const Fabric& fabric, const domain::Gang& gang, std::vector<PlacedPod> pods,
                  domain::Plan& plan);

// Distinct domains of each level that these nodes and those of the gang's running pods are in.
std::vector<int> count_domains(const Fabric& fabric, const domain::Gang& gang,
                               const std::vector<domain::PlannedPod>& pods);

// For each level what no plan for so many chips can beat: as many of the domains with the most free
// chips as hold them, running pods' domains first. O(nodes levels + domains log domains).
std::vector<int> fewest_by_chips(const Fabric& fabric, const domain::Gang& gang,
                                 std::int64_t chips);

}  // namespace chipweave::solver
