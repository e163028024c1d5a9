#include "scheduler-plugin/model/gangs/gang_sets.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;
using domain::PodSet;

// The key in Gang::min_sets of those that must all start. Names of subgroups and roles have no
// space in it.
constexpr const char* kNeeded = "all of";

std::string named(const char* list, const std::string& name) {
  return std::string(list) + "[" + in_quotes(name) + "]";
}

void need(PodSet& set, Gang& gang) {
  set.kind = kNeeded;
  ++gang.min_sets[kNeeded];
}

Result<void> set_levels(const TopologyWish& wish, const LevelNames& levels, PodSet& set) {
  const auto required = levels.finest(wish.required);
  if (!required) return Error(required.error()).in("required level");
  const auto preferred = levels.finest(wish.preferred);
  if (!preferred) return Error(preferred.error()).in("preferred level");
  set.required_level = *required;
  set.preferred_level = *preferred;
  return {};
}

// Partitions of which all must start, each in a domain of its level, are slices of that level: the
// planner deals consecutive pods out to a domain, and proves their plans at any size.
bool is_slice(const KnownRole& role) {
  const domain::Partition& partition = *role.partition;
  return role.minimum == role.pods.pods && role.pods.pods % partition.size == 0 &&
         partition.topology.preferred.empty() && partition.topology.slices.empty();
}

bool needs_subgroups(const KnownRole& role) {
  return role.minimum < role.pods.pods || (role.partition && !is_slice(role));
}

// A role that is placed as one.
Result<PodSet> role_set(const KnownRole& role, const LevelNames& levels, const Gang& gang) {
  PodSet set;
  set.name = role.pods.role;
  set.pods = role.pods.pods;
  set.chips_per_pod = role.pods.chips_per_pod;
  set.together = role.topology.together;
  if (auto done = set_levels(role.topology, levels, set); !done) return done.error();
  std::vector<domain::WishedSlice> slices = role.topology.slices;
  if (role.partition && is_slice(role)) {
    for (const std::string& level : role.partition->topology.required)
      slices.push_back({level, role.partition->size});
  }
  auto read = levels.slices(slices, std::max(set.required_level, gang.required_level));
  if (!read) return read.error();
  set.slices = *std::move(read);
  return set;
}

// Subgroups of `size` pods each below the role's set, and one of the pods that are left.
Result<void> add_partitions(const KnownRole& role, const LevelNames& levels, int parent,
                            Gang& gang) {
  const domain::Partition& partition = *role.partition;
  const int total = partition.total.value_or(role.pods.pods / partition.size);
  if (std::int64_t{total} * partition.size > role.pods.pods) {
    return wrong_request(std::to_string(total) + " of " + std::to_string(partition.size) +
                         " pods are more than its " + std::to_string(role.pods.pods) + " pods");
  }
  if (static_cast<std::size_t>(total) > limits::kMaxGangSets - gang.sets.size())
    return make_error(Errc::limit_exceeded, "more than " + std::to_string(limits::kMaxGangSets) +
                                                " partitions and roles");
  const std::string kind = "partitions of " + role.pods.role;
  PodSet set;
  set.parent = parent;
  set.chips_per_pod = role.pods.chips_per_pod;
  set.pods = set.own_min = partition.size;
  if (auto done = set_levels(partition.topology, levels, set); !done) return done;
  if (partition.minimum.value_or(0) > total)
    return wrong_request("at least " + std::to_string(*partition.minimum) +
                         " must start, there are " + std::to_string(total));
  if (partition.minimum.value_or(0) > 0) {
    set.kind = kind;
    gang.min_sets[kind] = *partition.minimum;
  }
  for (int i = 0; i < total; ++i) {
    set.name = role.pods.role + "/" + std::to_string(i);
    gang.sets.push_back(set);
  }
  PodSet rest;
  rest.name = role.pods.role + "/rest";
  rest.parent = parent;
  rest.pods = role.pods.pods - total * partition.size;
  rest.chips_per_pod = role.pods.chips_per_pod;
  if (rest.pods > 0) gang.sets.push_back(std::move(rest));
  return {};
}

Result<void> add_elastic_role(const KnownRole& role, const LevelNames& levels, Gang& gang) {
  if (!role.topology.slices.empty() || !role.topology.together.empty())
    return wrong_request(
        "slices and pod set groups cannot be combined with partitions, or with a minimum below the "
        "number of pods");
  PodSet set;
  set.name = role.pods.role;
  set.chips_per_pod = role.pods.chips_per_pod;
  if (auto done = set_levels(role.topology, levels, set); !done) return done;
  if (role.minimum > 0) need(set, gang);
  const bool parted = role.partition.has_value();
  set.pods = parted ? 0 : role.pods.pods;
  (parted ? set.min_member : set.own_min) = role.minimum;
  gang.sets.push_back(std::move(set));
  if (!parted) return {};
  auto done = add_partitions(role, levels, static_cast<int>(gang.sets.size()) - 1, gang);
  return done ? done : Result<void>(std::move(done).error().in("partitions"));
}

// The subgroups of a gang as a tree.
class Subgroups {
 public:
  Subgroups(const GangSpec& spec, const std::vector<RolePods>& pods, const LevelNames& levels,
            Gang& gang)
      : spec_(spec), pods_(pods), levels_(levels), gang_(gang) {}

  Result<void> add() {
    if (pods_.size() > limits::kMaxGangSets)
      return make_error(Errc::limit_exceeded,
                        "more than " + std::to_string(limits::kMaxGangSets) + " subgroups");
    if (auto done = add_sets(); !done) return done;
    if (auto done = link(); !done) return done;
    for (std::size_t i = 0; i < spec_.subgroups.size(); ++i) {
      auto done = set_minimum(i);
      if (!done) return std::move(done).error().in(named("subgroups", spec_.subgroups[i].name));
    }
    gang_.min_member = least_of(kNoSet);
    return check_sets();
  }

 private:
  Result<void> add_sets() {
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      PodSet set;
      set.name = pods_[i].role;
      set.pods = pods_[i].pods;
      set.chips_per_pod = pods_[i].chips_per_pod;
      if (!by_name_.emplace(set.name, static_cast<int>(i)).second)
        return wrong_request("has the name of another one").in(named("subgroups", set.name));
      if (i < spec_.subgroups.size()) {
        auto done = set_levels(spec_.subgroups[i].topology, levels_, set);
        if (!done) return std::move(done).error().in(named("subgroups", set.name));
        set.kind = spec_.subgroups[i].set;
      }
      gang_.sets.push_back(std::move(set));
    }
    return {};
  }

  Result<void> link() {
    children_.resize(gang_.sets.size());
    for (std::size_t i = 0; i < spec_.subgroups.size(); ++i) {
      const SubgroupSpec& one = spec_.subgroups[i];
      if (one.parent.empty()) continue;
      const auto at = by_name_.find(one.parent);
      if (at == by_name_.end())
        return wrong_request("unknown parent " + in_quotes(one.parent))
            .in(named("subgroups", one.name));
      gang_.sets[i].parent = at->second;
      children_[static_cast<std::size_t>(at->second)].push_back(i);
    }
    for (std::size_t i = 0; i < gang_.sets.size(); ++i) {
      std::size_t steps = 0;
      for (int at = static_cast<int>(i); at != kNoSet; at = set(at).parent)
        if (++steps > gang_.sets.size())
          return wrong_request("is a part of itself").in(named("subgroups", gang_.sets[i].name));
    }
    for (std::size_t i = 0; i < gang_.sets.size(); ++i)
      if (gang_.sets[i].parent == kNoSet) roots_.push_back(i);
    least_.resize(gang_.sets.size());
    return {};
  }

  Result<void> set_minimum(std::size_t i) {
    PodSet& one = gang_.sets[i];
    const auto given = spec_.subgroups[i].minimum;
    const bool has_children = !children_[i].empty();
    const int all = pods_in(i);
    if (given && *given > all && spec_.subgroups[i].pods)
      return wrong_request("at least " + std::to_string(*given) + " pods must start, there are " +
                           std::to_string(all));
    if (given && !has_children) one.own_min = *given;
    if (given && has_children) one.min_member = *given;
    if (!given) {
      one.own_min = one.pods;
      if (has_children) one.min_member = least_of(static_cast<int>(i));
    }
    const bool needed = is_needed(one.parent);
    if (!one.kind.empty() && !needed)
      return wrong_request(
          "a minimum of subgroups inside one that may be left out is not supported");
    if (one.kind.empty() && needed && start_of(i) > 0) need(one, gang_);
    return {};
  }

  // Pods that must start below a set (kNoSet: in the gang): of a set of subgroups with a minimum,
  // the smallest.
  int least_of(int parent) {
    std::map<std::string, std::vector<int>> by_kind;
    int sum = 0;
    if (parent != kNoSet) sum = set(parent).pods;
    for (const std::size_t i :
         parent == kNoSet ? roots_ : children_[static_cast<std::size_t>(parent)]) {
      const auto at = i < spec_.subgroups.size() ? spec_.min_sets.find(spec_.subgroups[i].set)
                                                 : spec_.min_sets.end();
      if (at == spec_.min_sets.end())
        sum += start_of(i);
      else
        by_kind[at->first].push_back(start_of(i));
    }
    for (auto& [kind, starts] : by_kind) {
      std::sort(starts.begin(), starts.end());
      const auto count =
          std::min(starts.size(), static_cast<std::size_t>(std::max(0, spec_.min_sets.at(kind))));
      for (std::size_t i = 0; i < count; ++i) sum += starts[i];
    }
    return sum;
  }
  // Pods with which a subgroup starts, those of nested ones included. Those that only pods name
  // start with any number.
  int start_of(std::size_t i) {
    if (i >= spec_.subgroups.size()) return 0;
    if (!least_[i])
      least_[i] =
          spec_.subgroups[i].minimum ? *spec_.subgroups[i].minimum : least_of(static_cast<int>(i));
    return *least_[i];
  }
  int pods_in(std::size_t i) const {
    std::int64_t sum = gang_.sets[i].pods;
    for (const std::size_t child : children_[i]) sum += pods_in(child);
    return static_cast<int>(std::min<std::int64_t>(sum, limits::kMaxGangPods));
  }
  // Whether all of these start whenever the gang does.
  bool is_needed(int at) const {
    for (; at != kNoSet; at = set(at).parent) {
      const std::string& kind = spec_.subgroups[static_cast<std::size_t>(at)].set;
      if (!kind.empty() && !all_needed(kind)) return false;
    }
    return true;
  }
  bool all_needed(const std::string& kind) const {
    const auto count = std::count_if(spec_.subgroups.begin(), spec_.subgroups.end(),
                                     [&](const SubgroupSpec& one) { return one.set == kind; });
    const auto least = spec_.min_sets.find(kind);
    return least != spec_.min_sets.end() && least->second >= count;
  }
  Result<void> check_sets() {
    for (const auto& [kind, least] : spec_.min_sets) {
      const auto count =
          std::count_if(gang_.sets.begin(), gang_.sets.end(),
                        [&, name = kind](const PodSet& one) { return one.kind == name; });
      if (least < 0 || least > count)
        return wrong_request(std::to_string(least) + " of " + in_quotes(kind) +
                             " must start, there are " + std::to_string(count))
            .in("min_sets");
      if (least > 0) gang_.min_sets[kind] = least;
    }
    return {};
  }
  const PodSet& set(int at) const { return gang_.sets[static_cast<std::size_t>(at)]; }

  const GangSpec& spec_;
  const std::vector<RolePods>& pods_;
  const LevelNames& levels_;
  Gang& gang_;
  std::map<std::string, int> by_name_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> roots_;
  std::vector<std::optional<int>> least_;
};

}  // namespace

bool differ(const std::vector<KnownRole>& roles) {
  return std::any_of(roles.begin(), roles.end(), [](const KnownRole& role) {
    return role.minimum < role.pods.pods || role.partition || !role.topology.required.empty() ||
           !role.topology.preferred.empty() || !role.topology.slices.empty() ||
           !role.topology.together.empty();
  });
}

Result<void> add_roles(const std::vector<KnownRole>& roles, const LevelNames& levels, Gang& gang) {
  gang.roles = std::none_of(roles.begin(), roles.end(), needs_subgroups);
  gang.min_member = 0;
  for (const KnownRole& role : roles) {
    gang.min_member += role.minimum;
    if (gang.roles) {
      auto set = role_set(role, levels, gang);
      if (!set) return std::move(set).error().in(named("roles", role.pods.role));
      gang.sets.push_back(*std::move(set));
    } else if (auto done = add_elastic_role(role, levels, gang); !done) {
      return std::move(done).error().in(named("roles", role.pods.role));
    }
  }
  return {};
}

Result<void> add_subgroups(const GangSpec& spec, const std::vector<RolePods>& pods,
                           const LevelNames& levels, Gang& gang) {
  return Subgroups(spec, pods, levels, gang).add();
}

Result<void> add_chips(const std::vector<RolePods>& pods, Gang& gang) {
  std::int64_t sum = 0;
  std::optional<int> first;
  bool equal = true;
  for (const RolePods& role : pods) {
    if (role.pods == 0) continue;
    if (!first) first = role.chips_per_pod;
    sum += role.pods;
    equal = equal && role.chips_per_pod == *first;
  }
  if (sum > limits::kMaxGangPods)
    return make_error(Errc::limit_exceeded, std::to_string(sum) + " pods, at most " +
                                                std::to_string(limits::kMaxGangPods) +
                                                " are accepted");
  gang.pods = static_cast<int>(sum);
  gang.chips_per_pod = first.value_or(0);
  if (equal || gang.roles) return {};
  for (const RolePods& role : pods)
    gang.pod_chips.insert(gang.pod_chips.end(), static_cast<std::size_t>(role.pods),
                          role.chips_per_pod);
  return {};
}

}  // namespace chipweave::sched
