// What a GangSpec says, as one line.
#pragma once

#include <string>

#include "common/base/text.hpp"
#include "common/domain/gangs/gang_spec.hpp"

namespace chipweave::codec {

inline std::string text_of(const domain::TopologyWish& wish) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : " ") + part; };
  if (!wish.required.empty()) add("in " + joined(wish.required, "+"));
  if (!wish.preferred.empty()) add("near " + joined(wish.preferred, "+"));
  for (const domain::WishedSlice& slice : wish.slices)
    add(std::to_string(slice.size) + " in " + slice.level);
  if (wish.even) add("even");
  if (wish.per_role) add("each");
  if (!wish.together.empty()) add("with " + wish.together);
  if (wish.ascend) add("ascend " + std::to_string(wish.ascend->sp_block.value_or(0)));
  if (wish.tor) add(*wish.tor == domain::TorSchema::normal ? "tor normal" : "tor large");
  if (!wish.problem.empty()) add("problem: " + wish.problem);
  return out;
}

inline std::string text_of(const std::optional<domain::ChipCounts>& chips) {
  std::string out;
  if (!chips) return out;
  for (const auto& [resource, count] : *chips) out += " " + std::to_string(count) + " " + resource;
  return chips->empty() ? " no chips" : out;
}

inline std::string text_of(const domain::Partition& partition) {
  const auto number = [](const std::optional<int>& n) { return n ? std::to_string(*n) : "?"; };
  std::string out = " parts " + number(partition.minimum) + ".." + number(partition.total) +
                    " of " + std::to_string(partition.size);
  const std::string wish = text_of(partition.topology);
  return wish.empty() ? out : out + " (" + wish + ")";
}

// "size 8 min 4 (in rack); worker 4..8 8 nvidia.com/gpu (near rack)"
inline std::string text_of(const domain::GangSpec& spec) {
  const auto number = [](const std::optional<int>& n) { return n ? std::to_string(*n) : "?"; };
  const auto wish = [](const domain::TopologyWish& one) {
    const std::string text = text_of(one);
    return text.empty() ? text : " (" + text + ")";
  };
  std::string out = "size " + number(spec.size) + " min " + number(spec.minimum) +
                    text_of(spec.chips) + wish(spec.topology);
  if (spec.partition) out += text_of(*spec.partition);
  for (const domain::RoleSpec& role : spec.roles) {
    out += "; " + role.name + " " + number(role.minimum) + ".." + number(role.pods) +
           text_of(role.chips) + wish(role.topology);
    if (role.partition) out += text_of(*role.partition);
  }
  for (const domain::SubgroupSpec& one : spec.subgroups) {
    out += "; " + one.name + (one.parent.empty() ? "" : " in " + one.parent) + " " +
           number(one.minimum) + ".." + number(one.pods) +
           (one.set.empty() ? "" : " of " + one.set) + wish(one.topology);
  }
  for (const auto& [set, least] : spec.min_sets) out += "; " + set + " >= " + std::to_string(least);
  if (spec.sequential) out += "; one after the other";
  if (!spec.problem.empty()) out += "; problem: " + spec.problem;
  return out;
}

}  // namespace chipweave::codec
