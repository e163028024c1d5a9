// PlacementRule — which rule of the vendor's runtime applies to the chip sets of a machine, and the
// size of the groups that the rule refers to; a rule of two groups fits no machine with more.
// common/solver/chips/sets/rules.hpp implements the
// rules.
#pragma once

#include <optional>
#include <string_view>

namespace chipweave::domain {

enum class RuleKind {
  any,                 // any set is legal (GPUs, Atlas A2 with 8 chips)
  ascend_910a_module,  // two HCCS rings of 4: sizes 1, 2, 4 inside one ring, or all 8
  ascend_910a_half,    // one ring of 4: sizes 1, 2, 4
  ascend_910b_16,      // two meshes of 8; symmetric pairs across them
  ascend_a3,           // modules of two dies
  ascend_310_card,     // inside one card
  ascend_310_chip,     // over cards, fewest free chips first
  ascend_310p_card,    // one Duo card
  ascend_310p_chip,    // Duo cards, half-used first
  ascend_a5_mesh4,     // UB meshes of 4
};

struct PlacementRule {
  RuleKind kind = RuleKind::any;
  // Chips of one ring, mesh, module or card: index / group_size is the group. Unused by `any`.
  int group_size = 1;
  friend bool operator==(const PlacementRule&, const PlacementRule&) = default;
};

// "any", "ascend-910a-module", … as in the topology JSON.
std::string_view to_string(RuleKind kind);
std::optional<RuleKind> parse_rule_kind(std::string_view text);

}  // namespace chipweave::domain
