#include "node-agent/app/identity.hpp"

#include <string_view>

#include "node-agent/app/rebuild.hpp"

namespace chipweave::agent {
namespace {

using domain::RuleKind;

// The prefix of MindCluster's chip names, which also tells the resource.
std::string_view ascend_family(const domain::NodeTopology& t) {
  switch (t.rule().kind) {
    case RuleKind::ascend_910a_module:
    case RuleKind::ascend_910a_half:
    case RuleKind::ascend_910b_16:
    case RuleKind::ascend_a3:
      return "Ascend910";
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310_chip:
      return "Ascend310";
    case RuleKind::ascend_310p_card:
    case RuleKind::ascend_310p_chip:
      return "Ascend310P";
    case RuleKind::ascend_a5_mesh4:
      return "npu";
    case RuleKind::any:
      break;
  }
  const auto has = [&t](std::string_view word) {
    return t.model().find(word) != std::string::npos ||
           (t.chip_count() > 0 && t.chip(0).model.find(word) != std::string::npos);
  };
  if (has("310P")) return "Ascend310P";
  if (has("310")) return "Ascend310";
  if (has("950") || has("350")) return "npu";
  return "Ascend910";
}

}  // namespace

Result<std::vector<std::string>> default_resources(const domain::NodeTopology& t) {
  using Names = std::vector<std::string>;
  if (t.vendor() == "nvidia") return Names{"nvidia.com/gpu", "aliyun.com/gpu"};
  if (t.vendor() == "amd") return Names{"amd.com/gpu"};
  if (t.vendor() == "metax") return Names{"metax-tech.com/gpu"};
  if (t.vendor() == "ascend") {
    const std::string_view family = ascend_family(t);
    if (family == "Ascend910") return Names{"huawei.com/Ascend910", "huawei.com/ascend-1980"};
    return Names{"huawei.com/" + std::string(family)};
  }
  return make_error(Errc::unsupported, "no resource name is known for chips of vendor \"" +
                                           t.vendor() + "\": say it with --resource");
}

Result<domain::NodeTopology> with_identity(const domain::NodeTopology& t, const std::string& node) {
  const bool ascend = t.vendor() == "ascend";
  const std::string prefix = ascend ? std::string(ascend_family(t))
                                    : (t.vendor().empty() ? "chip" : t.vendor()) + "-" + node;
  return with_chips(t, [&](domain::Chip& chip) {
    if (ascend && !chip.physical_id) chip.physical_id = chip.index.value;
    if (!chip.id.empty()) return;
    chip.id = prefix + "-" + std::to_string(ascend ? *chip.physical_id : chip.index.value);
  });
}

}  // namespace chipweave::agent
