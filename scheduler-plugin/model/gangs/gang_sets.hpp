// gang_sets — the roles or subgroups of a gang as the planner's pod sets. Internal to gang_request.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "scheduler-plugin/model/gangs/level_names.hpp"

namespace chipweave::sched {

// One of GangSpec::roles with all that is known of it.
struct KnownRole {
  RolePods pods;
  int minimum = 0;
  TopologyWish topology;  // its own, apart from the gang's
  std::optional<domain::Partition> partition;
};

// Whether the planner needs to tell the roles apart.
bool differ(const std::vector<KnownRole>& roles);
// Fills in gang.sets, min_sets and the default of min_member. gang.required_level is set.
Result<void> add_roles(const std::vector<KnownRole>& roles, const LevelNames& levels,
                       domain::Gang& gang);
// Pods: of each subgroup in the order of the spec, and of the roles after them, which are subgroups
// without constraints.
Result<void> add_subgroups(const GangSpec& spec, const std::vector<RolePods>& pods,
                           const LevelNames& levels, domain::Gang& gang);
// Sums up gang.pods, and gives every pod its chips.
Result<void> add_chips(const std::vector<RolePods>& pods, domain::Gang& gang);

}  // namespace chipweave::sched
