// PodGroups — a gang as the planners of sets see it: kinds of pods that are alike for the network,
// and groups of kinds that have rules in common (the gang, each role or subgroup with what is
// inside it, roles that are planned together).
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// Pods of one set, of one size, with the same nodes to choose from.
struct KindOfPods {
  int set = domain::kNoSet;
  int chips = 0;
  const std::vector<FabricNodeId>* allowed = nullptr;  // ascending; null: any node
  std::vector<int> pods;                               // their numbers, ascending
};

struct PodGroup {
  std::vector<std::size_t> kinds;
  int required_level = domain::kNoLevel;  // those that run are counted
  int preferred_level = domain::kNoLevel;
  std::vector<domain::Slice> slices;
  std::map<FabricNodeId, int> existing;
};

struct PodGroups {
  std::vector<KindOfPods> kinds;
  std::vector<PodGroup> groups;  // the first one is the gang
};

PodGroups group_pods(const domain::Gang& gang);

// What keeps so many new pods of each set from running: what a subgroup needs at least, the
// subgroup that it is in, sets of subgroups, the gang.
struct Missing {
  std::string why;        // in words; empty: nothing
  bool all_start = true;  // each subgroup that has new pods has enough of them
  bool any() const { return !why.empty(); }
};
Missing missing_members(const domain::Gang& gang, const std::vector<int>& placed_by_set,
                        int placed);

}  // namespace chipweave::solver
