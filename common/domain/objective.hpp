// Objective — what the chips of a pod or a gang are chosen for.
#pragma once

#include <optional>
#include <string_view>

namespace chipweave::domain {

enum class Objective {
  bandwidth,   // large messages along rings: training, data and tensor parallel (default)
  latency,     // few hops, one NUMA node: tensor-parallel inference with small messages
  all_to_all,  // every chip sends to every other: expert parallelism
};

// "bandwidth", "latency", "all_to_all"
constexpr std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::bandwidth:
      return "bandwidth";
    case Objective::latency:
      return "latency";
    case Objective::all_to_all:
      return "all_to_all";
  }
  return "";
}

constexpr std::optional<Objective> parse_objective(std::string_view text) {
  for (const Objective one : {Objective::bandwidth, Objective::latency, Objective::all_to_all}) {
    if (to_string(one) == text) return one;
  }
  return std::nullopt;
}

}  // namespace chipweave::domain
