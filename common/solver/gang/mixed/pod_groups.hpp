// PodGroups — a gang as the planners of mixed pods see it: kinds of interchangeable pods, and
// groups of kinds that share rules (the gang, each role or subgroup with everything inside it,
// roles that are planned together).
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
  std::vector<int> pods;                               // pod numbers, ascending
};

struct PodGroup {
  std::vector<std::size_t> kinds;
  int required_level = domain::kNoLevel;  // running pods count
  int preferred_level = domain::kNoLevel;
  std::vector<domain::Slice> slices;
  std::map<FabricNodeId, int> existing;
  int at_least = 0;  // new pods, or the placement is not considered
};

struct PodGroups {
  std::vector<KindOfPods> kinds;
  std::vector<PodGroup> groups;  // the first one is the gang
};

PodGroups group_pods(const domain::Gang& gang);
// The groups of a gang whose new pods are of these kinds.
PodGroups group_kinds(const domain::Gang& gang, std::vector<KindOfPods> kinds);
// Whether a set is `outer` or nested in it.
bool is_inside(const domain::Gang& gang, int set, int outer);

// Why so many new pods of each set cannot run: minimums of a subgroup, of the subgroup around it,
// of a set of subgroups, or of the gang.
struct MissingMembers {
  std::string why;           // message; empty: they can run
  bool all_start = true;     // every subgroup with new pods has enough of them
  int set = domain::kNoSet;  // the first one that has not
  bool any() const { return !why.empty(); }
};
MissingMembers missing_members(const domain::Gang& gang, const std::vector<int>& placed_by_set,
                               int placed);

}  // namespace chipweave::solver
