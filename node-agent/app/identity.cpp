#include "node-agent/app/identity.hpp"

#include <string_view>

#include "common/domain/ascend_family.hpp"
#include "common/domain/topology_edit.hpp"

namespace chipweave::agent {

Result<std::vector<std::string>> default_resources(const domain::NodeTopology& t) {
  using Names = std::vector<std::string>;
  if (t.vendor() == "nvidia") return Names{"nvidia.com/gpu", "aliyun.com/gpu"};
  if (t.vendor() == "amd") return Names{"amd.com/gpu"};
  if (t.vendor() == "metax") return Names{"metax-tech.com/gpu"};
  if (t.vendor() == "ascend") {
    const std::string_view family = domain::ascend_prefix(domain::ascend_family_of(t));
    if (family == "Ascend910") return Names{"huawei.com/Ascend910", "huawei.com/ascend-1980"};
    return Names{"huawei.com/" + std::string(family)};
  }
  return make_error(Errc::unsupported, "no resource name is known for chips of vendor \"" +
                                           t.vendor() + "\": say it with --resource");
}

Result<domain::NodeTopology> with_identity(const domain::NodeTopology& t, const std::string& node) {
  const bool ascend = t.vendor() == "ascend";
  const std::string prefix = ascend
                                 ? std::string(domain::ascend_prefix(domain::ascend_family_of(t)))
                                 : (t.vendor().empty() ? "chip" : t.vendor()) + "-" + node;
  return domain::with_chips(t, [&](domain::Chip& chip) {
    if (ascend && !chip.physical_id) chip.physical_id = chip.index.value;
    if (!chip.id.empty()) return;
    chip.id = prefix + "-" + std::to_string(ascend ? *chip.physical_id : chip.index.value);
  });
}

}  // namespace chipweave::agent
