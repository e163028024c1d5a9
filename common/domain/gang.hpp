// Gang — pods that belong together and want to be close: what is asked of the planner, and what it
// answers. Levels are positions in the network's list of levels, coarsest first; nodes are numbers
// that the asker and the planner agree on (Fabric's). Pods are numbered through the sets in their
// order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::domain {

inline constexpr int kNoLevel = -1;
inline constexpr int kNoSet = -1;

using GangNodeId = std::uint32_t;

// Every domain of `level` that holds pods holds a multiple of `size` of them.
struct Slice {
  int level = 0;
  int size = 1;
};

enum class GangPolicy {
  compact,  // fewest domains of every level, coarsest first
  even      // fewest domains of the preferred level, equal shares
};

// A role or a subgroup: pods that are named and have wishes of their own, inside the gang's.
struct PodSet {
  std::string name;
  int pods = 0;  // its own, beside those of sets inside it
  int chips_per_pod = 0;
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  std::vector<Slice> slices;  // coarsest first
  // Subgroups: it starts with at least so many of its own pods (own_min), and with those of the
  // subgroups inside it (min_member), running ones counted, or not at all. Roles: 0.
  int own_min = 0;
  int min_member = 0;
  int parent = kNoSet;   // the subgroup that it is a part of
  std::string kind;      // of Gang::min_sets; may be empty
  std::string together;  // roles of the same name are planned as one; may be empty
  std::map<GangNodeId, int> existing;
};

// Soft: every used domain of the level keeps so many whole free nodes.
struct Spare {
  int level = 0;
  int nodes = 0;
};

// Pods of the gang that run on a node.
struct Running {
  int pods = 0;
  std::vector<int> ranks;  // of each; empty: not known
};

struct Gang {
  int pods = 0;                // to be placed, beside existing ones; of a repair: all
  int chips_per_pod = 0;       // 0: pods that need no chips
  std::vector<int> pod_chips;  // by pod; empty: chips_per_pod each
  int min_member = 0;          // how many must run, existing ones counted, or nothing is placed
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  std::vector<Slice> slices;  // coarsest first
  GangPolicy policy = GangPolicy::compact;

  std::vector<PodSet> sets;             // empty: pods are all alike but for their chips
  bool roles = false;                   // sets are roles, not subgroups
  std::map<std::string, int> min_sets;  // how many subgroups of that kind must run

  std::map<GangNodeId, Running> existing;         // those of the sets included
  std::optional<std::vector<GangNodeId>> failed;  // repair: pods there move, all others stay
  std::map<int, std::vector<GangNodeId>>
      allowed;  // by pod; a pod that is not in it may go anywhere
  std::optional<Spare> spare;
};

struct PlannedPod {
  int pod = 0;
  GangNodeId node = 0;
  int rank = 0;
  int set = kNoSet;
};

struct Plan {
  bool fits = false;
  std::vector<PlannedPod> pods;  // by rank
  std::vector<int> domains;      // distinct ones used a level, running pods' included
  bool optimal = true;           // the domains are proven to be the fewest
  std::vector<int> bound;        // not proven: a level's number that no plan can beat
  std::string reason;            // why it does not fit
};

}  // namespace chipweave::domain
