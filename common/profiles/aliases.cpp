#include "common/profiles/aliases.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::profiles {
namespace {

std::vector<Alias> alias_table() {
  std::vector<Alias> out = {
      // NVIDIA
      {"p100", {"dgx1-p100-8"}},
      {"dgx-1p", {"dgx1-p100-8"}},
      {"dgx-1", {"dgx1-p100-8", "hgx-v100-8"}},
      {"dgx1", {"dgx1-p100-8", "hgx-v100-8"}},
      {"v100", {"hgx-v100-8", "dgx2-v100-16"}},
      {"dgx-1v", {"hgx-v100-8"}},
      {"hgx-1", {"hgx-v100-8"}},
      {"p3.16xlarge", {"hgx-v100-8"}},
      {"p3dn", {"hgx-v100-8"}},
      {"p3dn.24xlarge", {"hgx-v100-8"}},
      {"dgx-2", {"dgx2-v100-16"}},
      {"dgx2", {"dgx2-v100-16"}},
      {"hgx-2", {"dgx2-v100-16"}},
      {"a100", {"hgx-a100-8"}},
      {"dgx-a100", {"hgx-a100-8"}},
      {"hgx-a100", {"hgx-a100-8", "hgx-a100-4"}},
      {"redstone", {"hgx-a100-4"}},
      {"p4d", {"hgx-a100-8"}},
      {"p4d.24xlarge", {"hgx-a100-8"}},
      {"p4de", {"hgx-a100-8"}},
      {"p4de.24xlarge", {"hgx-a100-8"}},
      {"a2-highgpu-8g", {"hgx-a100-8"}},
      {"a2-ultragpu-8g", {"hgx-a100-8"}},
      {"h100", {"hgx-h100-8"}},
      {"dgx-h100", {"hgx-h100-8"}},
      {"hgx-h100", {"hgx-h100-8"}},
      {"p5", {"hgx-h100-8"}},
      {"p5.48xlarge", {"hgx-h100-8"}},
      {"a3-highgpu-8g", {"hgx-h100-8"}},
      {"a3-megagpu-8g", {"hgx-h100-8"}},
      {"h200", {"hgx-h200-8"}},
      {"dgx-h200", {"hgx-h200-8"}},
      {"hgx-h200", {"hgx-h200-8"}},
      {"p5e", {"hgx-h200-8"}},
      {"p5en", {"hgx-h200-8"}},
      {"a3-ultragpu-8g", {"hgx-h200-8"}},
      {"b200", {"hgx-b200-8"}},
      {"dgx-b200", {"hgx-b200-8"}},
      {"hgx-b200", {"hgx-b200-8"}},
      {"p6-b200", {"hgx-b200-8"}},
      {"a4-highgpu-8g", {"hgx-b200-8"}},
      {"pcie", {"pcie-8", "pcie-nvlink-bridge-8"}},
      // AMD
      {"mi250x", {"mi250x-8"}},
      {"lumi-g", {"mi250x-8"}},
      {"frontier", {"mi250x-8"}},
      {"mi300x", {"mi300x-8"}},
      // MetaX
      {"c550", {"metax-c550-8", "metax-c550-16"}},
      {"metax-c550", {"metax-c550-8", "metax-c550-16"}},
      // Ascend
      {"310", {"ascend-310-card-4", "ascend-310-chip-4"}},
      {"310p", {"ascend-310p-8"}},
      {"ascend-310p", {"ascend-310p-8"}},
      {"atlas-300i-duo", {"ascend-310p-8"}},
      {"910a", {"ascend-910a-8"}},
      {"ascend-910a", {"ascend-910a-8", "ascend-910a-half-4"}},
      {"910b", {"ascend-910b-8", "ascend-910b-16"}},
      {"ascend-910b", {"ascend-910b-8", "ascend-910b-16"}},
      {"atlas-800t-a2", {"ascend-910b-8"}},
      {"atlas-200t-a2-box16", {"ascend-910b-16"}},
      {"910c", {"ascend-a3-16", "ascend-a3-8"}},
      {"ascend-a3", {"ascend-a3-16", "ascend-a3-8"}},
      {"atlas-800t-a3", {"ascend-a3-16"}},
      {"atlas-350", {"ascend-a5-8", "ascend-a5-16"}},
      {"ascend-a5", {"ascend-a5-8", "ascend-a5-16"}},
  };
  std::sort(out.begin(), out.end(), [](const Alias& l, const Alias& r) { return l.name < r.name; });
  return out;
}

}  // namespace

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> table = alias_table();
  return table;
}

const Alias* find_alias(std::string_view name) {
  std::string key = lower_case(std::string(name));
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == '_' || c == ' '; }, '-');
  const std::vector<Alias>& table = aliases();
  const auto at = std::lower_bound(table.begin(), table.end(), key,
                                   [](const Alias& a, const std::string& n) { return a.name < n; });
  return at != table.end() && at->name == key ? &*at : nullptr;
}

std::vector<std::string_view> aliases_of(std::string_view profile) {
  std::vector<std::string_view> out;
  for (const Alias& alias : aliases()) {
    if (alias.profiles.size() == 1 && alias.profiles.front() == profile) out.push_back(alias.name);
  }
  return out;
}

}  // namespace chipweave::profiles
