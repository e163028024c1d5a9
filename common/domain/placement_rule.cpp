#include "common/domain/placement_rule.hpp"

#include <array>
#include <utility>

namespace chipweave::domain {
namespace {

constexpr std::array<std::pair<RuleKind, std::string_view>, 10> kRuleNames = {{
    {RuleKind::any, "any"},
    {RuleKind::ascend_910a_module, "ascend-910a-module"},
    {RuleKind::ascend_910a_half, "ascend-910a-half"},
    {RuleKind::ascend_910b_16, "ascend-910b-16"},
    {RuleKind::ascend_a3, "ascend-a3"},
    {RuleKind::ascend_310_card, "ascend-310-card"},
    {RuleKind::ascend_310_chip, "ascend-310-chip"},
    {RuleKind::ascend_310p_card, "ascend-310p-card"},
    {RuleKind::ascend_310p_chip, "ascend-310p-chip"},
    {RuleKind::ascend_a5_mesh4, "ascend-a5-mesh4"},
}};

}  // namespace

std::string_view to_string(RuleKind kind) {
  for (const auto& [k, name] : kRuleNames) {
    if (k == kind) return name;
  }
  return "any";
}

std::optional<RuleKind> parse_rule_kind(std::string_view text) {
  for (const auto& [k, name] : kRuleNames) {
    if (name == text) return k;
  }
  return std::nullopt;
}

}  // namespace chipweave::domain
