#include "node-agent/device_plugin/core/vendor_devices.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "common/base/text.hpp"

namespace chipweave::device_plugin {
namespace {

bool same_name(const std::string& a, const std::string& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return lower_case(x) == lower_case(y);
         });
}

std::optional<std::size_t> slot_named(const std::vector<std::vector<std::string>>& forms,
                                      const std::string& id) {
  for (const auto& form : forms) {
    const auto is_it = [&](const std::string& name) { return same_name(name, id); };
    const auto found = std::find_if(form.begin(), form.end(), is_it);
    if (found == form.end()) continue;
    // A name of two chips names none.
    if (std::find_if(found + 1, form.end(), is_it) != form.end()) continue;
    return static_cast<std::size_t>(found - form.begin());
  }
  return std::nullopt;
}

}  // namespace

VendorDevices vendor_devices(const domain::NodeTopology& topology,
                             const std::vector<OfferedDevice>& devices) {
  VendorDevices out;
  out.ids.resize(topology.chips().size());
  const auto forms = id_forms(topology);
  for (const OfferedDevice& device : devices) {
    const auto slot = device.id.empty() ? std::nullopt : slot_named(forms, device.id);
    if (!slot || !out.ids[*slot].empty()) {
      out.unknown.push_back(device.id);
      continue;
    }
    out.ids[*slot] = device.id;
    if (device.healthy) out.healthy.insert(static_cast<int>(*slot));
  }
  return out;
}

}  // namespace chipweave::device_plugin
