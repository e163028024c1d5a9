// Names of the facts (NodeState::facts) that are published as labels, annotations and ConfigMaps.
// All may be missing: what they would say is then not said.
#pragma once

namespace chipweave::agent::facts {

inline constexpr const char* kDriver = "driver";               // "550.54.15"
inline constexpr const char* kComputeCapability = "sm";        // "9.0"
inline constexpr const char* kFabricClique = "fabric.clique";  // "<cluster uuid>.<clique id>"
inline constexpr const char* kMigCapable = "mig.capable";      // "true", "false"
inline constexpr const char* kAscendChipName = "chip-name";    // "910B3"
inline constexpr const char* kAscendAiCores = "aicore";        // of one chip: "20"

}  // namespace chipweave::agent::facts
