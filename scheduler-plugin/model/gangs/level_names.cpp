#include "scheduler-plugin/model/gangs/level_names.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

using domain::kNoLevel;

bool is_node_level(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"hostname", "kubernetes.io/hostname", "node",
                                                   "host"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// N of "tier-N", as HyperNodes without a name of their tier are imported.
std::optional<int> number_in_name(std::string_view level) {
  constexpr std::string_view kPrefix = "tier-";
  if (!level.starts_with(kPrefix)) return std::nullopt;
  return parse_number<int>(level.substr(kPrefix.size()));
}

}  // namespace

Result<int> LevelNames::find(std::string_view name) const {
  if (const auto at = std::find(levels_.begin(), levels_.end(), name); at != levels_.end())
    return static_cast<int>(at - levels_.begin());
  if (const auto level = level_of_ ? level_of_(name) : std::nullopt) {
    if (*level >= 0 && *level < static_cast<int>(levels_.size())) return *level;
  }
  if (name.starts_with(domain::kTierPrefix))
    return find_tier(name.substr(std::string_view(domain::kTierPrefix).size()));
  return wrong_request(unknown_name("level", name, {levels_.begin(), levels_.end()}));
}

// Tiers count from the host side: the level above the nodes is 1, unless levels have numbers in
// their names. Of numbers that no level has, the next lower one counts, as for Volcano, which takes
// every tier up to the bound.
Result<int> LevelNames::find_tier(std::string_view number) const {
  const auto wanted = parse_number<int>(number);
  if (!wanted) return wrong_request("tier " + std::string(number) + " is not a number");
  int tier = 0;
  int found = kNoLevel;
  for (int at = static_cast<int>(levels_.size()) - 1; at >= 0; --at) {
    const bool of_nodes = at + 1 == static_cast<int>(levels_.size()) && is_node_level(name(at));
    if (!of_nodes) tier = number_in_name(name(at)).value_or(tier + 1);
    if (tier > *wanted) {
      if (found != kNoLevel) return found;
      return wrong_request("no level has tier " + std::to_string(*wanted) + " or a lower one");
    }
    found = at;
  }
  return tier == *wanted ? found : kNoLevel;
}

Result<int> LevelNames::finest(const std::vector<std::string>& names) const {
  int out = kNoLevel;
  for (const std::string& one : names) {
    const auto level = find(one);
    if (!level) return level.error();
    out = std::max(out, *level);
  }
  return out;
}

Result<std::vector<domain::Slice>> LevelNames::slices(
    const std::vector<domain::WishedSlice>& wished, int required) const {
  std::vector<domain::Slice> out;
  for (const domain::WishedSlice& one : wished) {
    const auto level = find(one.level);
    if (!level) return Error(level.error()).in("slices");
    if (one.size < 1 || one.size > limits::kMaxGangPods) {
      return wrong_request("the size of slices is from 1 to " +
                           std::to_string(limits::kMaxGangPods) + ", got " +
                           std::to_string(one.size))
          .in("slices");
    }
    if (*level == kNoLevel) continue;
    if (*level < required)
      return wrong_request("level " + one.level + " is above the required level " + name(required))
          .in("slices");
    out.push_back({*level, one.size});
  }
  std::sort(out.begin(), out.end(), [](const domain::Slice& a, const domain::Slice& b) {
    return std::pair(a.level, b.size) < std::pair(b.level, a.size);
  });
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i - 1].level == out[i].level)
      return wrong_request("level " + name(out[i].level) + " is named twice").in("slices");
    if (out[i - 1].size % out[i].size != 0)
      return wrong_request("slices of " + std::to_string(out[i].size) +
                           " pods do not divide those of " + std::to_string(out[i - 1].size) +
                           " at a level above")
          .in("slices");
  }
  return out;
}

}  // namespace chipweave::sched
