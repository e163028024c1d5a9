// Gang — pods that belong together and want to be close: what is asked of the planner, and what it
// answers. Levels are positions in the network's list of levels, coarsest first; pods are numbered
// through the sets in their order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chipweave::domain {

inline constexpr int kNoLevel = -1;

// Every domain of `level` that holds pods holds a multiple of `size` of them.
struct Slice {
  int level = 0;
  int size = 1;
};

enum class GangPolicy { compact, even };

// Pods that are alike.
struct Gang {
  int pods = 0;           // to be placed, beside existing ones
  int chips_per_pod = 0;  // of each; 0: pods that need no chips
  int min_member = 0;     // how many must run, existing ones counted, or nothing is placed
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  std::vector<Slice> slices;  // coarsest first
  GangPolicy policy = GangPolicy::compact;
};

struct PlannedPod {
  int pod = 0;
  std::uint32_t node = 0;  // Fabric's number of it
  int rank = 0;
};

struct Plan {
  bool fits = false;
  std::vector<PlannedPod> pods;  // by rank
  std::vector<int> domains;      // distinct ones used a level
  bool optimal = true;           // the domains are proven to be the fewest
  std::vector<int> bound;        // not proven: a level's number that no plan can beat
  std::string reason;            // why it does not fit
};

}  // namespace chipweave::domain
