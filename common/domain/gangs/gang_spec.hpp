// GangSpec — what a gang asks for: how many pods, how few may start, which roles, and how close
// they have to be. Owner objects and the pods' annotations say it, in the terms of their framework;
// levels are names here, which scheduler-plugin/model/gangs/gang_request.hpp looks up in the
// network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/vendor_job.hpp"

namespace chipweave::domain {

// "tier:2": a level by its number, counted from the host side, as Volcano does.
inline constexpr const char* kTierPrefix = "tier:";

// Every domain of the level that holds pods holds a multiple of `size` of them.
struct WishedSlice {
  std::string level;
  int size = 1;
  friend bool operator==(const WishedSlice&, const WishedSlice&) = default;
};

// How close the pods of a gang, of a role or of a subgroup have to be. A level is the label of
// nodes, the name of a network's level, or "tier:N".
struct TopologyWish {
  std::vector<std::string> required;   // in one domain of each of these
  std::vector<std::string> preferred;  // the finest counts
  std::vector<WishedSlice> slices;
  bool even = false;  // equal shares of the domains
  // Each role by itself, as Kueue reads it; otherwise all pods of the gang.
  bool per_role = false;
  std::string together;  // roles with the same value are placed as one
  std::optional<AscendRequest> ascend;
  std::optional<TorSchema> tor;
  std::string problem;  // a request that cannot be used, in words; empty: none

  friend bool operator==(const TopologyWish&, const TopologyWish&) = default;
};

// Consecutive pods that belong together.
struct Partition {
  int size = 1;                // pods of each
  std::optional<int> total;    // unknown: as many as the pods make
  std::optional<int> minimum;  // so many must start; unknown: as many as the gang's minimum needs
  TopologyWish topology;
  friend bool operator==(const Partition&, const Partition&) = default;
};

using ChipCounts = std::map<std::string, int>;  // by extended resource

struct RoleSpec {
  std::string name;
  std::optional<int> pods;          // unknown: those that exist
  std::optional<int> minimum;       // unknown: all of them
  std::optional<ChipCounts> chips;  // of a pod; unknown: its template was not read
  TopologyWish topology;
  std::optional<Partition> partition;
  friend bool operator==(const RoleSpec&, const RoleSpec&) = default;
};

// A part of a gang with a minimum of its own. Its pods are those whose role has its name.
struct SubgroupSpec {
  std::string name;
  std::string parent;          // the subgroup that contains it; empty: none
  std::optional<int> pods;     // its own; unknown: those that exist
  std::optional<int> minimum;  // with those of nested subgroups; unknown: all of its own
  std::string set;             // a key of GangSpec::min_sets; may be empty
  TopologyWish topology;
  friend bool operator==(const SubgroupSpec&, const SubgroupSpec&) = default;
};

struct GangSpec {
  std::optional<int> size;      // all pods; unknown: the sum of the roles, or those that exist
  std::optional<int> minimum;   // fewer must not start; unknown: all
  std::vector<RoleSpec> roles;  // in the order of ranks
  std::vector<SubgroupSpec> subgroups;
  std::map<std::string, int> min_sets;  // so many subgroups of the set must start
  std::optional<ChipCounts> chips;      // of a pod, as in RoleSpec; only without roles
  TopologyWish topology;
  std::optional<Partition> partition;  // of all pods; only without roles and subgroups
  // Some of its pods are made only once others are bound or run, so all are planned with the first.
  bool sequential = false;
  std::string problem;  // what cannot be used of the object, in words; empty: nothing

  friend bool operator==(const GangSpec&, const GangSpec&) = default;
};

// Adds what `to` does not say. Levels, slices and policy are taken together or not at all.
void add_missing(TopologyWish& to, const TopologyWish& from);
// The same; of roles, those that both have.
void add_missing(GangSpec& to, const GangSpec& from);

}  // namespace chipweave::domain
