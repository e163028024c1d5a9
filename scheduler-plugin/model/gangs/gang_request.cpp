#include "scheduler-plugin/model/gangs/gang_request.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "scheduler-plugin/model/gangs/gang_sets.hpp"

namespace chipweave::sched {
namespace {

const RoleMembers* members_of(const GangMembers& members, const std::string& role) {
  for (const RoleMembers& one : members.roles)
    if (one.role == role) return &one;
  return nullptr;
}

Error unknown_chips(const std::string& which) {
  return make_error(Errc::unavailable, "how many chips " + which +
                                           " need is unknown: none of them exists yet, and the "
                                           "owner of the gang does not say");
}

// Chips of the pods of a role: those that exist say it, else the owner's template.
Result<int> chips_of_role(const GangMembers& members, const std::string& role,
                          const std::optional<domain::ChipCounts>& of_owner, int pods) {
  if (const RoleMembers* here = members_of(members, role)) return here->chips_per_pod;
  if (pods == 0) return 0;
  if (!of_owner) return unknown_chips("the pods of role " + in_quotes(role));
  const auto at = of_owner->find(members.resource);
  return at == of_owner->end() ? 0 : at->second;
}

Result<RolePods> known_role(const GangMembers& members, const std::string& name,
                            std::optional<int> pods, std::optional<int> minimum,
                            const std::optional<domain::ChipCounts>& chips) {
  const RoleMembers* here = members_of(members, name);
  RolePods out{name, pods.value_or(std::max(here == nullptr ? 0 : here->pods, minimum.value_or(0))),
               0};
  auto found = chips_of_role(members, name, chips, out.pods);
  if (!found) return std::move(found).error();
  out.chips_per_pod = *found;
  return out;
}

// Without roles or subgroups of the owner: what the pods are, and those that do not exist yet.
Result<std::vector<RolePods>> roles_of_members(const GangSpec& spec, const GangMembers& members) {
  std::vector<RolePods> out;
  std::set<int> chips;
  int born = 0;
  for (const RoleMembers& one : members.roles) {
    out.push_back({one.role, one.pods, one.chips_per_pod});
    chips.insert(one.chips_per_pod);
    born += one.pods;
  }
  const int unborn = spec.size.value_or(spec.minimum.value_or(0)) - born;
  if (unborn <= 0) return out;
  int of_each = 0;
  if (chips.size() == 1) {
    of_each = *chips.begin();
  } else if (spec.chips) {
    const auto at = spec.chips->find(members.resource);
    of_each = at == spec.chips->end() ? 0 : at->second;
  } else {
    return unknown_chips(std::to_string(unborn) + " pods");
  }
  if (out.size() == 1 || (!out.empty() && out.back().role.empty()))
    out.back().pods += unborn;
  else
    out.push_back({"", unborn, of_each});
  return out;
}

// The topology request of the gang as a whole: of its owner, of templates, or of its pods.
TopologyWish wish_of_gang(const GangSpec& spec, const GangMembers& members) {
  TopologyWish out = spec.topology;
  const auto lift = [&](TopologyWish wish) {
    if (wish.per_role) {
      TopologyWish of_vendor;
      of_vendor.ascend = wish.ascend;
      of_vendor.tor = wish.tor;
      wish = std::move(of_vendor);
    }
    add_missing(out, wish);
  };
  for (const RoleSpec& role : spec.roles) lift(role.topology);
  for (const RoleMembers& one : members.roles) lift(one.topology);
  return out;
}

// The topology request of a role by itself.
TopologyWish wish_of_role(const TopologyWish& of_owner, const RoleMembers* here) {
  TopologyWish out;
  if (of_owner.per_role) out = of_owner;
  if (here != nullptr && here->topology.per_role) add_missing(out, here->topology);
  return out;
}

Result<void> refuse_problems(const GangSpec& spec, const GangMembers& members) {
  if (!spec.problem.empty()) return wrong_request(spec.problem);
  const auto check = [](const TopologyWish& wish) {
    return wish.problem.empty() ? Result<void>() : Result<void>(wrong_request(wish.problem));
  };
  if (auto fine = check(spec.topology); !fine) return fine;
  for (const RoleSpec& role : spec.roles)
    if (auto fine = check(role.topology); !fine) return fine;
  for (const SubgroupSpec& one : spec.subgroups)
    if (auto fine = check(one.topology); !fine) return fine;
  for (const RoleMembers& one : members.roles)
    if (auto fine = check(one.topology); !fine) return fine;
  return {};
}

Result<void> check_number(const std::optional<int>& number, int least, const char* field) {
  if (!number || (*number >= least && *number <= limits::kMaxGangPods)) return {};
  return wrong_request("must be " + std::to_string(least) + " to " +
                       std::to_string(limits::kMaxGangPods) + ", got " + std::to_string(*number))
      .in(field);
}

Result<void> check_partition(const std::optional<domain::Partition>& partition) {
  if (!partition) return {};
  if (auto fine = check_number(partition->size, 1, "partition size"); !fine) return fine;
  if (auto fine = check_number(partition->total, 1, "partitions"); !fine) return fine;
  return check_number(partition->minimum, 0, "minimum of partitions");
}

Result<void> check_numbers(const GangSpec& spec) {
  if (auto fine = check_number(spec.size, 0, "size"); !fine) return fine;
  if (auto fine = check_number(spec.minimum, 0, "minimum"); !fine) return fine;
  if (auto fine = check_partition(spec.partition); !fine) return fine;
  const auto check_part = [](const auto& part) {
    if (auto fine = check_number(part.pods, 0, "pods"); !fine) return fine;
    return check_number(part.minimum, 0, "minimum");
  };
  for (const RoleSpec& role : spec.roles) {
    auto fine = check_part(role);
    if (fine) fine = check_partition(role.partition);
    if (fine && role.pods && role.minimum && *role.minimum > *role.pods)
      fine =
          wrong_request("is more than its " + std::to_string(*role.pods) + " pods").in("minimum");
    if (!fine) return std::move(fine).error().in("roles[" + in_quotes(role.name) + "]");
  }
  for (const SubgroupSpec& one : spec.subgroups) {
    if (auto fine = check_part(one); !fine)
      return std::move(fine).error().in("subgroups[" + in_quotes(one.name) + "]");
  }
  return {};
}

std::vector<KnownRole> known_roles(const GangSpec& spec, const GangMembers& members,
                                   const std::vector<RolePods>& pods) {
  std::vector<KnownRole> out;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    KnownRole one;
    one.pods = pods[i];
    one.minimum = one.pods.pods;
    const bool of_owner = i < spec.roles.size();
    if (of_owner) {
      const RoleSpec& role = spec.roles[i];
      one.minimum = std::min(role.minimum.value_or(one.pods.pods), one.pods.pods);
      one.partition = role.partition;
    }
    one.topology = wish_of_role(of_owner ? spec.roles[i].topology : TopologyWish{},
                                members_of(members, one.pods.role));
    out.push_back(std::move(one));
  }
  if (spec.partition && out.size() == 1) out.front().partition = spec.partition;
  return out;
}

// The gang's own minimum, where it has one.
Result<void> set_minimum(const GangSpec& spec, domain::Gang& gang) {
  if (!spec.minimum) return {};
  if (*spec.minimum > gang.pods) {
    const bool all_known =
        spec.size || (!spec.roles.empty() &&
                      std::all_of(spec.roles.begin(), spec.roles.end(),
                                  [](const RoleSpec& role) { return role.pods.has_value(); }));
    return make_error(all_known ? Errc::invalid_argument : Errc::unavailable,
                      "at least " + std::to_string(*spec.minimum) + " pods must start, there are " +
                          std::to_string(gang.pods))
        .in("minimum");
  }
  gang.min_member = *spec.minimum;
  return {};
}

Result<void> set_gang_levels(const TopologyWish& wish, const LevelNames& levels,
                             domain::Gang& gang) {
  auto required = levels.finest(wish.required);
  if (!required) return std::move(required).error().in("required level");
  auto preferred = levels.finest(wish.preferred);
  if (!preferred) return std::move(preferred).error().in("preferred level");
  gang.required_level = *required;
  gang.preferred_level = *preferred;
  auto slices = levels.slices(wish.slices, gang.required_level);
  if (!slices) return std::move(slices).error();
  gang.slices = *std::move(slices);
  if (wish.even) gang.policy = domain::GangPolicy::even;
  return {};
}

// The constraints of a gang's only role are the gang's, if the gang has none.
void take_over(KnownRole& role, TopologyWish& of_gang) {
  if (role.partition || role.minimum < role.pods.pods) return;
  if (!of_gang.required.empty() || !of_gang.preferred.empty() || !of_gang.slices.empty()) return;
  role.topology.together.clear();
  add_missing(of_gang, std::exchange(role.topology, {}));
}

}  // namespace

Result<std::vector<RolePods>> pods_by_role(const GangSpec& spec, const GangMembers& members) {
  if (spec.roles.empty() && spec.subgroups.empty()) return roles_of_members(spec, members);
  std::vector<RolePods> out;
  std::set<std::string> names;
  for (const RoleSpec& role : spec.roles) {
    auto one = known_role(members, role.name, role.pods, role.minimum, role.chips);
    if (!one) return std::move(one).error();
    names.insert(role.name);
    out.push_back(*std::move(one));
  }
  std::set<std::string> parents;
  for (const SubgroupSpec& one : spec.subgroups) parents.insert(one.parent);
  for (const SubgroupSpec& group : spec.subgroups) {
    // The minimum of a subgroup with nested ones counts their pods.
    const bool nested = parents.count(group.name) > 0;
    auto one = known_role(members, group.name, group.pods,
                          nested ? std::optional<int>() : group.minimum, spec.chips);
    if (!one) return std::move(one).error();
    names.insert(group.name);
    out.push_back(*std::move(one));
  }
  for (const RoleMembers& one : members.roles)
    if (names.count(one.role) == 0) out.push_back({one.role, one.pods, one.chips_per_pod});
  return out;
}

Result<domain::Gang> gang_of(const GangSpec& spec, const GangMembers& members,
                             const std::vector<std::string>& levels, const LevelOf& level_of) {
  if (auto fine = refuse_problems(spec, members); !fine) return fine.error();
  if (auto fine = check_numbers(spec); !fine) return fine.error();
  if (!spec.roles.empty() && !spec.subgroups.empty())
    return wrong_request("subgroups cannot be combined with roles");
  const auto pods = pods_by_role(spec, members);
  if (!pods) return pods.error();
  const LevelNames names(levels, level_of);
  TopologyWish wish = wish_of_gang(spec, members);
  std::vector<KnownRole> roles;
  if (spec.subgroups.empty()) roles = known_roles(spec, members, *pods);
  if (roles.size() == 1) take_over(roles.front(), wish);
  domain::Gang gang;
  Result<void> done = set_gang_levels(wish, names, gang);
  if (!done) return done.error();
  for (const RolePods& role : *pods) gang.min_member += role.pods;
  if (!spec.subgroups.empty())
    done = add_subgroups(spec, *pods, names, gang);
  else if (differ(roles))
    done = add_roles(roles, names, gang);
  if (done) done = add_chips(*pods, gang);
  if (done) done = set_minimum(spec, gang);
  if (!done) return done.error();
  return gang;
}

Result<std::optional<domain::VendorJob>> vendor_job_of(const GangSpec& spec,
                                                       const GangMembers& members,
                                                       const domain::Gang& gang,
                                                       const std::vector<std::string>& levels) {
  const TopologyWish wish = wish_of_gang(spec, members);
  if (!wish.ascend && !wish.tor) return std::optional<domain::VendorJob>();
  if (!gang.sets.empty() || !gang.pod_chips.empty())
    return wrong_request(
        "sp-block, ra-block and tor-affinity cannot be combined with roles or subgroups that "
        "differ");
  domain::VendorJob job;
  job.pods = gang.size();
  job.chips_per_pod = gang.chips_per_pod;
  job.levels = domain::default_vendor_levels(levels);
  job.ascend = wish.ascend;
  if (wish.tor) job.tor = domain::TorRequest{*wish.tor};
  return std::optional(std::move(job));
}

}  // namespace chipweave::sched
