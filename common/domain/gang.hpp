// Gang — pods that are placed together and close to each other: the request to the planner, and its
// Plan. Levels are positions in the network's list of levels, coarsest first; nodes are identified
// by numbers of the caller's Fabric. Pods are numbered through the sets in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/communicators.hpp"
#include "common/domain/objective.hpp"

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

// A role or a subgroup: named pods with constraints of their own, in addition to the gang's.
struct PodSet {
  std::string name;
  int pods = 0;  // its own, without those of nested sets
  int chips_per_pod = 0;
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  std::vector<Slice> slices;  // coarsest first
  // Subgroups: the minimum of its own pods (own_min), and with those of nested subgroups
  // (min_member), running ones included; with fewer it does not start. Roles: 0.
  int own_min = 0;
  int min_member = 0;
  int parent = kNoSet;   // the subgroup that contains it
  std::string kind;      // a key of Gang::min_sets; may be empty
  std::string together;  // roles with the same value are planned as one; may be empty
  std::map<GangNodeId, int> existing;
};

// A preference: every used domain of the level keeps so many whole free nodes.
struct Spare {
  int level = 0;
  int nodes = 0;
  friend bool operator==(const Spare&, const Spare&) = default;
};

// Running pods of the gang on a node.
struct Running {
  int pods = 0;
  std::vector<int> ranks = {};    // one a pod; empty: unknown
  std::vector<int> numbers = {};  // pod numbers in the order of `ranks`; empty: the ranks
  std::vector<int> chips = {};    // indices of the chips that these pods hold; empty: unknown
};

struct Gang {
  int pods = 0;                // to be placed, without running ones; for a repair: all
  int chips_per_pod = 0;       // 0: the pods need no chips
  std::vector<int> pod_chips;  // by pod; empty: chips_per_pod each
  int min_member = 0;          // minimum, running pods included; with fewer nothing is placed
  int required_level = kNoLevel;
  int preferred_level = kNoLevel;
  std::vector<Slice> slices;  // coarsest first
  GangPolicy policy = GangPolicy::compact;
  Objective objective = Objective::bandwidth;
  std::optional<Communicators> communicators;  // whose traffic the ranks are ordered for

  std::vector<PodSet> sets;             // empty: the pods differ at most in their chips
  bool roles = false;                   // sets are roles, not subgroups
  std::map<std::string, int> min_sets;  // minimum of subgroups of that kind

  std::map<GangNodeId, Running> existing;  // including those of the sets
  std::optional<std::vector<GangNodeId>>
      failed;  // repair: pods on these nodes move, all others stay
  std::map<int, std::vector<GangNodeId>> allowed;  // by pod; pods without an entry may go anywhere
  std::optional<Spare> spare;

  int running_pods() const {
    int sum = 0;
    for (const auto& [node, here] : existing) sum += here.pods;
    return sum;
  }
  // All pods that the gang has when the plan is carried out: vendors' rules depend on that number,
  // not on how many of them are placed now.
  int size() const { return failed ? std::max(pods, running_pods()) : pods + running_pods(); }
  // Chips of a pod of that set (kNoSet: of none).
  int chips_of(int pod, int set) const {
    const auto number = static_cast<std::size_t>(pod);
    if (number < pod_chips.size()) return pod_chips[number];
    return set == kNoSet ? chips_per_pod : sets[static_cast<std::size_t>(set)].chips_per_pod;
  }
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
  std::vector<int> domains;      // by level, the domains used, including those of running pods
  bool optimal = true;           // proven to use the fewest domains
  std::vector<int> bound;        // if not proven: by level, a lower bound of the domains
  std::string reason;            // why it does not fit
};
inline Plan refused_plan(std::string reason) {
  Plan plan;
  plan.reason = std::move(reason);
  return plan;
}

}  // namespace chipweave::domain
