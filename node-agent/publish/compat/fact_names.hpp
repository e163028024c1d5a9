// Names of the facts (NodeState::facts) that are published as labels, annotations and ConfigMaps. A
// missing fact is not published.
#pragma once

#include <string_view>

#include "node-agent/app/node_state.hpp"

namespace chipweave::agent::facts {

inline constexpr const char* kDriver = "driver";               // "550.54.15"
inline constexpr const char* kComputeCapability = "sm";        // "9.0"
inline constexpr const char* kFabricClique = "fabric.clique";  // "<cluster uuid>.<clique id>"
inline constexpr const char* kMigCapable = "mig.capable";      // "true", "false"
inline constexpr const char* kAscendChipName = "chip-name";    // "910B3"
inline constexpr const char* kAscendAiCores = "aicore";        // of one chip: "20"

// "" if the state has no such fact.
inline std::string_view value_of(const NodeState& state, const char* name) {
  const auto found = state.facts.find(name);
  return found == state.facts.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace chipweave::agent::facts
