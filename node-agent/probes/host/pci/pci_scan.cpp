#include "node-agent/probes/host/pci/pci_scan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/domain/ascend_family.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/host/pci/pci_models.hpp"
#include "node-agent/probes/unknown_identity.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::VendorId;

// The vendor with most chips (by name, where two have as many); a warning counts the others.
VendorId choose_vendor(const std::vector<PciDevice>& devices, std::vector<std::string>& warnings) {
  std::map<std::string_view, int> counts;
  for (const PciDevice& d : devices) {
    const VendorId vendor = accelerator_vendor(d);
    if (vendor != VendorId::unknown) ++counts[domain::vendor_of(vendor).name];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  if (most == counts.end()) return VendorId::unknown;
  for (const auto& [vendor, count] : counts) {
    if (vendor == most->first) continue;
    warnings.push_back(std::to_string(count) + " accelerators of vendor " + std::string(vendor) +
                       " are left out beside " + std::to_string(most->second) + " of " +
                       std::string(most->first));
  }
  return domain::vendor_of(most->first).id;
}

domain::HostBandwidth host_bandwidth(double gigatransfers, bool intel) {
  const int generation =
      gigatransfers >= 60 ? 6 : (gigatransfers >= 30 ? 5 : (gigatransfers >= 15 ? 4 : 3));
  return domain::pcie_host_bandwidth(generation, intel);
}

void add_chips(const std::vector<const PciDevice*>& chips, VendorId vendor,
               domain::TopologyBuilder& builder) {
  for (std::size_t i = 0; i < chips.size(); ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{static_cast<int>(i)};
    chip.model = pci_model(chips[i]->vendor, chips[i]->device);
    chip.pci = chips[i]->address;
    if (vendor == VendorId::ascend) chip.id = domain::chip_id_by_place(chip.pci);
    chip.numa = chips[i]->numa;
    builder.add_chip(std::move(chip));
    for (std::size_t k = 0; k < i; ++k) {
      const LinkKind kind =
          pci_path_kind(chips[k]->route, chips[k]->numa, chips[i]->route, chips[i]->numa);
      builder.add_link(ChipIndex{static_cast<int>(k)}, ChipIndex{static_cast<int>(i)}, kind);
    }
  }
}

}  // namespace

Result<domain::Observation> pci_observation(const HostView& view, VendorId wanted,
                                            const std::string& where) {
  std::vector<std::string> warnings;
  const VendorId id = wanted == VendorId::unknown ? choose_vendor(view.devices, warnings) : wanted;
  std::vector<const PciDevice*> chips;
  for (const PciDevice& d : view.devices) {
    if (id != VendorId::unknown && accelerator_vendor(d) == id) chips.push_back(&d);
  }
  const std::string vendor(domain::vendor_of(id).name);
  if (chips.empty()) {
    return make_error(Errc::not_found,
                      "no accelerators: " + where + " lists no chip of " +
                          (vendor.empty() ? "NVIDIA, AMD, Huawei or MetaX" : vendor) +
                          " (is the device there, and is /sys mounted?)");
  }
  domain::TopologyBuilder builder;
  builder.vendor = vendor;
  builder.model = pci_model(chips.front()->vendor, chips.front()->device);
  if (chips.front()->link_gigatransfers > 0) {
    builder.host_bandwidth = host_bandwidth(chips.front()->link_gigatransfers, view.intel);
  }
  const std::string machine = builder.model.empty() ? vendor + " machine" : builder.model;
  add_chips(chips, id, builder);
  auto topology = std::move(builder).build();
  if (!topology) return std::move(topology).error().in("PCI bus");
  warnings.push_back(
      "links between chips (NVLink, XGMI, HCCS, …) are not visible on the PCI bus: only host paths "
      "are known; name the machine with --probe profile:NAME or file:PATH for link-aware "
      "placement");
  domain::Observation out{machine, std::move(topology).value(), std::move(warnings)};
  // The driver does not number NPUs in the order of the bus.
  if (id == VendorId::ascend) add_unknown_identity(out, std::nullopt, kNoDriverIdentity);
  add_host(view, out);
  return out;
}

}  // namespace chipweave::agent
