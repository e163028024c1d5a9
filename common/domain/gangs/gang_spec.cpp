#include "common/domain/gangs/gang_spec.hpp"

#include <algorithm>

namespace chipweave::domain {
namespace {

bool names_levels(const TopologyWish& wish) {
  return !wish.required.empty() || !wish.preferred.empty() || !wish.slices.empty() || wish.even ||
         !wish.together.empty();
}

template <class Value>
void add_missing_value(std::optional<Value>& to, const std::optional<Value>& from) {
  if (!to) to = from;
}

void add_missing(RoleSpec& to, const RoleSpec& from) {
  add_missing_value(to.pods, from.pods);
  add_missing_value(to.minimum, from.minimum);
  add_missing_value(to.partition, from.partition);
  add_missing_value(to.chips, from.chips);
  add_missing(to.topology, from.topology);
}

}  // namespace

void add_missing(TopologyWish& to, const TopologyWish& from) {
  if (!names_levels(to)) {
    to.required = from.required;
    to.preferred = from.preferred;
    to.slices = from.slices;
    to.even = from.even;
    to.per_role = from.per_role;
    to.together = from.together;
  }
  add_missing_value(to.ascend, from.ascend);
  add_missing_value(to.tor, from.tor);
  if (to.problem.empty()) to.problem = from.problem;
}

void add_missing(GangSpec& to, const GangSpec& from) {
  if (to.roles.empty() && to.subgroups.empty()) {
    to.roles = from.roles;
    to.subgroups = from.subgroups;
    to.min_sets = from.min_sets;
    add_missing_value(to.partition, from.partition);
  } else {
    for (RoleSpec& role : to.roles) {
      const auto same = std::find_if(from.roles.begin(), from.roles.end(),
                                     [&](const RoleSpec& one) { return one.name == role.name; });
      if (same != from.roles.end()) add_missing(role, *same);
    }
  }
  add_missing_value(to.size, from.size);
  add_missing_value(to.minimum, from.minimum);
  add_missing_value(to.chips, from.chips);
  add_missing(to.topology, from.topology);
  to.sequential = to.sequential || from.sequential;
  if (to.problem.empty()) to.problem = from.problem;
}

}  // namespace chipweave::domain
