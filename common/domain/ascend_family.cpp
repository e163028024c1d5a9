#include "common/domain/ascend_family.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace chipweave::domain {
namespace {

struct ModelWord {
  std::string_view word;
  AscendFamily generation;
};
// The first that the model contains: "Ascend910_9382", "910B3", "Atlas350".
constexpr std::array<ModelWord, 9> kWords = {{
    {"310P", AscendFamily::ascend_310p},
    {"310", AscendFamily::ascend_310},
    {"950", AscendFamily::a5},
    {"350", AscendFamily::a5},
    {"910_93", AscendFamily::a3},
    {"910C", AscendFamily::a3},
    {"910B", AscendFamily::a2},
    {"910A", AscendFamily::a1},
    {"910Pro", AscendFamily::a1},
}};

std::optional<AscendFamily> by_rule(RuleKind rule) {
  switch (rule) {
    case RuleKind::ascend_910a_module:
    case RuleKind::ascend_910a_half:
      return AscendFamily::a1;
    case RuleKind::ascend_910b_16:
      return AscendFamily::a2;
    case RuleKind::ascend_a3:
      return AscendFamily::a3;
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310_chip:
      return AscendFamily::ascend_310;
    case RuleKind::ascend_310p_card:
    case RuleKind::ascend_310p_chip:
      return AscendFamily::ascend_310p;
    case RuleKind::ascend_a5_mesh4:
      return AscendFamily::a5;
    case RuleKind::any:
      break;
  }
  return std::nullopt;
}

}  // namespace

AscendFamily ascend_family_of(const NodeTopology& topology) {
  if (const auto known = by_rule(topology.rule().kind)) return *known;
  const std::string& of_chip = topology.chip(0).model;
  const std::string& model = of_chip.empty() ? topology.model() : of_chip;
  const auto* const found = std::find_if(kWords.begin(), kWords.end(), [&](const ModelWord& each) {
    return model.find(each.word) != std::string::npos;
  });
  return found == kWords.end() ? AscendFamily::a2 : found->generation;
}

std::string_view ascend_prefix(AscendFamily generation) {
  switch (generation) {
    case AscendFamily::ascend_310:
      return "Ascend310";
    case AscendFamily::ascend_310p:
      return "Ascend310P";
    case AscendFamily::a5:
      return "npu";
    case AscendFamily::a1:
    case AscendFamily::a2:
    case AscendFamily::a3:
      break;
  }
  return "Ascend910";
}

}  // namespace chipweave::domain
