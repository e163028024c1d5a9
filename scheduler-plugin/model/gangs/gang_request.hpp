// gang_request — what a gang asks for (GangSpec, and what its pods say) as a request to the
// planner: names of levels become levels of the network. Pure.
//
// Pods are numbered through the roles, in the order of pods_by_role(), by their index within the
// role; the planner's pod numbers are these.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "scheduler-plugin/model/gangs/gang_spec.hpp"

namespace chipweave::sched {

// The pods of a role that exist; at least one.
struct RoleMembers {
  std::string role;  // of GangMark; may be empty
  int pods = 1;
  int chips_per_pod = 0;
  TopologyWish topology;  // of their labels and annotations
};
struct GangMembers {
  std::string resource;            // whose chips they request; empty: none does
  std::vector<RoleMembers> roles;  // each role once
};

struct RolePods {
  std::string role;
  int pods = 0;  // with those that do not exist yet
  int chips_per_pod = 0;
  friend bool operator==(const RolePods&, const RolePods&) = default;
};
// The roles of the owner object, or its subgroups, then those that only pods name. Errors:
// unavailable where the chips of pods that do not exist yet are unknown.
Result<std::vector<RolePods>> pods_by_role(const GangSpec& spec, const GangMembers& members);

// A level by another name than its own, such as the label that it is read from, or "tier:N".
using LevelOf = std::function<std::optional<int>(std::string_view)>;

// Levels: names, coarsest first. Errors: invalid_argument, which names the field: a problem that
// spec or a wish has, unknown levels, sizes below 1, slices above the required level, a minimum
// above the number of pods, subgroups that contain themselves; limit_exceeded; unavailable, as
// pods_by_role(), or where fewer pods are known than must start.
Result<domain::Gang> gang_of(const GangSpec& spec, const GangMembers& members,
                             const std::vector<std::string>& levels, const LevelOf& level_of);

// The gang's keys for a vendor's scheduler, for solver::plan_vendor_gang(); nullopt: it has none.
// Errors: invalid_argument where `gang`, made by gang_of(), has roles or subgroups.
Result<std::optional<domain::VendorJob>> vendor_job_of(const GangSpec& spec,
                                                       const GangMembers& members,
                                                       const domain::Gang& gang,
                                                       const std::vector<std::string>& levels);

}  // namespace chipweave::sched
