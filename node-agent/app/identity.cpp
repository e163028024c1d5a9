#include "node-agent/app/identity.hpp"

#include <string_view>

#include "common/domain/ascend_family.hpp"
#include "common/domain/topology_edit.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent {

Result<std::vector<std::string>> default_resources(const domain::NodeTopology& t) {
  auto names = domain::usual_resources(t);
  if (!names.empty()) return names;
  return make_error(Errc::unsupported, "no resource name is known for chips of vendor \"" +
                                           t.vendor() + "\": set it with --resource");
}

Result<domain::NodeTopology> with_identity(const domain::NodeTopology& t, const std::string& node) {
  const bool ascend = domain::vendor_of(t).id == domain::VendorId::ascend;
  const std::string prefix = ascend
                                 ? std::string(domain::ascend_prefix(domain::ascend_family_of(t)))
                                 : (t.vendor().empty() ? "chip" : t.vendor()) + "-" + node;
  return domain::with_chips(t, [&](domain::Chip& chip) {
    if (ascend && !chip.physical_id && !domain::is_id_by_place(chip.id)) {
      chip.physical_id = chip.index.value;
    }
    if (!chip.id.empty()) return;
    chip.id = prefix + "-" + std::to_string(ascend ? *chip.physical_id : chip.index.value);
  });
}

}  // namespace chipweave::agent
