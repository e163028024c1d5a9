#include "common/solver/gang/repair/homes.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::solver {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;

Homes::Homes(const Fabric& fabric, const Gang& gang, const std::vector<FabricNodeId>& failed,
             const std::vector<RunningPod>& pods)
    : fabric_(fabric), gang_(gang), failed_(failed) {
  find_groups();
  std::vector<bool> lost(groups_.size(), false);
  std::vector<bool> runs(groups_.size(), false);
  std::vector<bool> apart(groups_.size(), false);
  for (const RunningPod& pod : pods) {
    for (const std::size_t number : groups_of(pod.set)) {
      Group& group = groups_[number];
      const DomainId at = fabric.domain_of(pod.node, group.level);
      apart[number] = apart[number] || (group.home != kNowhere && group.home != at);
      group.home = at;
      (is_failed(pod.node) ? lost : runs)[number] = true;
    }
  }
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    if (!lost[number]) continue;
    if (apart[number] && !scattered_) scattered_ = number;
    groups_[number].open = !runs[number] && !usable(groups_[number].home);
  }
}

void Homes::find_groups() {
  of_set_.resize(gang_.sets.size() + 1);
  if (gang_.required_level != kNoLevel) {
    groups_.push_back({gang_.required_level, "the gang"});
    for (auto& of_set : of_set_) of_set.push_back(0);
  }
  std::map<std::string, std::vector<std::size_t>> together;
  std::vector<std::optional<std::size_t>> own(gang_.sets.size());
  for (std::size_t set = 0; set < gang_.sets.size(); ++set) {
    const domain::PodSet& one = gang_.sets[set];
    if (!one.together.empty()) together[one.together].push_back(set);
    if (one.required_level == kNoLevel) continue;
    own[set] = groups_.size();
    groups_.push_back({one.required_level, (gang_.roles ? "role " : "subgroup ") + one.name});
  }
  for (std::size_t set = 0; set < gang_.sets.size(); ++set) {
    for (int at = static_cast<int>(set); at != kNoSet;
         at = gang_.sets[static_cast<std::size_t>(at)].parent)
      if (const auto group = own[static_cast<std::size_t>(at)]) of_set_[set + 1].push_back(*group);
  }
  for (const auto& [name, sets] : together) {
    int level = kNoLevel;  // the coarsest one
    for (const std::size_t set : sets) {
      const int required = gang_.sets[set].required_level;
      if (required != kNoLevel) level = level == kNoLevel ? required : std::min(level, required);
    }
    if (level == kNoLevel) continue;
    for (const std::size_t set : sets) of_set_[set + 1].push_back(groups_.size());
    groups_.push_back({level, "the roles together as " + name});
  }
}

std::string Homes::group_text(std::size_t group) const { return groups_[group].name; }

bool Homes::is_failed(FabricNodeId node) const {
  return std::binary_search(failed_.begin(), failed_.end(), node);
}

bool Homes::usable(DomainId domain) const {
  const auto [at, fresh] = usable_.try_emplace(domain, false);
  if (!fresh) return at->second;
  fabric_.each_node_below(domain, [&, found = &at->second](FabricNodeId node) {
    *found = *found || (!is_failed(node) && fabric_.node(node).healthy);
  });
  return at->second;
}

// A slice domain with no usable node left has lost its whole slice, which the slice around it gets
// back elsewhere.
DomainId Homes::region(const RunningPod& lost) const {
  int level = kNoLevel;
  const auto see = [&](const std::vector<domain::Slice>& slices) {
    for (const domain::Slice& slice : slices)
      if (slice.size > 1 && slice.level > level &&
          usable(fabric_.domain_of(lost.node, slice.level)))
        level = slice.level;
  };
  see(gang_.slices);
  if (lost.set != kNoSet) see(gang_.sets[static_cast<std::size_t>(lost.set)].slices);
  for (const std::size_t group : groups_of(lost.set))
    if (!groups_[group].open) level = std::max(level, groups_[group].level);
  return level == kNoLevel ? kRootDomain : fabric_.domain_of(lost.node, level);
}

std::vector<std::size_t> Homes::open_groups(int set) const {
  std::vector<std::size_t> out;
  for (const std::size_t group : groups_of(set))
    if (groups_[group].open) out.push_back(group);
  return out;
}

bool Homes::sliced(int set) const {
  const auto any = [](const std::vector<domain::Slice>& slices) {
    return std::any_of(slices.begin(), slices.end(),
                       [](const domain::Slice& slice) { return slice.size > 1; });
  };
  return any(gang_.slices) ||
         (set != kNoSet && any(gang_.sets[static_cast<std::size_t>(set)].slices));
}

}  // namespace chipweave::solver
