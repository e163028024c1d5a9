#include "node-agent/probes/pci_scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/pci_models.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;

const std::string kDevices = "/sys/bus/pci/devices/";

struct PciDevice {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t device_class = 0;  // 24 bits: base, sub, interface
  int numa = -1;
  std::vector<std::string> route;
  double link_gigatransfers = 0;
};

std::uint32_t hex_of(const std::optional<std::string>& text) {
  if (!text) return 0;
  std::string_view digits = *text;
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  std::uint32_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  return out;
}

// The number a text starts with ("16.0 GT/s PCIe", "400 Gb/sec"); 0 without one or when negative.
double leading(const std::optional<std::string>& text) {
  if (!text) return 0;
  double out = 0;
  std::from_chars(text->data(), text->data() + text->size(), out);
  return out > 0 && out < 1e7 ? out : 0;
}

int int_of(const std::optional<std::string>& text, int otherwise) {
  int out = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), out);
  return out;
}

std::vector<PciDevice> list_devices(const SysfsTree& tree) {
  std::vector<PciDevice> out;
  for (const std::string& address : tree.names(kDevices)) {
    const std::string at = kDevices + address + "/";
    PciDevice d;
    d.address = address;
    d.device_class = hex_of(tree.text(at + "class"));
    const std::uint32_t base = d.device_class >> 16U;
    if (base != 0x02 && base != 0x03 && base != 0x12) continue;
    // Slices of a card (SR-IOV) beside the card itself are not chips of their own.
    if (tree.exists(at + "physfn")) continue;
    d.vendor = hex_of(tree.text(at + "vendor"));
    d.device = hex_of(tree.text(at + "device"));
    d.numa = std::max(-1, int_of(tree.text(at + "numa_node"), -1));
    d.link_gigatransfers = leading(tree.text(at + "max_link_speed"));
    if (const auto path = tree.resolved(kDevices + address)) d.route = pci_route(*path);
    out.push_back(std::move(d));
  }
  return out;
}

// "nvidia", … if the device is an accelerator, else "". Class 0x0300 (VGA) counts for NVIDIA only:
// Huawei's is the graphics of the board controller, AMD's that of the processor or a desktop card
// without KFD.
std::string_view accelerator_vendor(const PciDevice& d) {
  const std::uint32_t base = d.device_class >> 16U;
  const bool vga = (d.device_class >> 8U) == 0x0300;
  const bool display = base == 0x03;
  const bool accelerator = base == 0x12;
  switch (d.vendor) {
    case 0x10de:
      return display ? "nvidia" : "";
    case 0x1002:
      return accelerator || (display && !vga) ? "amd" : "";
    case 0x19e5:
      return accelerator ? "ascend" : "";
    case 0x9999:
      return accelerator || display ? "metax" : "";
    default:
      return "";
  }
}

struct NicFacts {
  std::string name;
  double gbps = 0;
};

NicFacts nic_facts(const SysfsTree& tree, const PciDevice& d) {
  const std::string at = kDevices + d.address + "/";
  NicFacts out{d.address, 0};
  if (const auto names = tree.names(at + "net"); !names.empty()) {
    out.name = names.front();
    out.gbps = leading(tree.text(at + "net/" + names.front() + "/speed")) / 8000;  // Mbit/s
  }
  if (const auto names = tree.names(at + "infiniband"); !names.empty()) {
    out.name = names.front();
    const double rate = leading(tree.text(at + "infiniband/" + names.front() + "/ports/1/rate"));
    if (rate > 0) out.gbps = rate / 8;  // Gbit/s
  }
  return out;
}

// The vendor with most chips; what is left out is said.
std::string choose_vendor(const std::vector<PciDevice>& devices,
                          std::vector<std::string>& warnings) {
  std::map<std::string, int> counts;
  for (const PciDevice& d : devices) {
    if (const auto vendor = accelerator_vendor(d); !vendor.empty()) ++counts[std::string(vendor)];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  if (most == counts.end()) return "";
  for (const auto& [vendor, count] : counts) {
    if (vendor == most->first) continue;
    warnings.push_back(std::to_string(count) + " accelerators of vendor " + vendor +
                       " are left out beside " + std::to_string(most->second) + " of " +
                       most->first);
  }
  return most->first;
}

domain::HostBandwidth host_bandwidth(const SysfsTree& tree, double gigatransfers) {
  const int generation =
      gigatransfers >= 60 ? 6 : (gigatransfers >= 30 ? 5 : (gigatransfers >= 15 ? 4 : 3));
  const auto cpu = tree.text("/proc/cpuinfo");
  return domain::pcie_host_bandwidth(generation,
                                     cpu && cpu->find("GenuineIntel") != std::string::npos);
}

void add_nics(const SysfsTree& tree, const std::vector<PciDevice>& devices,
              const std::vector<const PciDevice*>& chips, domain::TopologyBuilder& builder) {
  std::size_t count = 0;
  for (const PciDevice& d : devices) {
    if ((d.device_class >> 16U) != 0x02 || ++count > limits::kMaxNics) continue;
    std::map<domain::ChipIndex, LinkKind> paths;
    for (std::size_t i = 0; i < chips.size(); ++i) {
      paths[domain::ChipIndex{static_cast<int>(i)}] =
          pci_path_kind(d.route, d.numa, chips[i]->route, chips[i]->numa);
    }
    const NicFacts facts = nic_facts(tree, d);
    builder.add_nic(facts.name, d.address, d.numa, facts.gbps, std::move(paths));
  }
}

void add_chips(const std::vector<const PciDevice*>& chips, domain::TopologyBuilder& builder) {
  for (std::size_t i = 0; i < chips.size(); ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{static_cast<int>(i)};
    chip.model = pci_model(chips[i]->vendor, chips[i]->device);
    chip.pci = chips[i]->address;
    chip.numa = chips[i]->numa;
    builder.add_chip(std::move(chip));
    for (std::size_t k = 0; k < i; ++k) {
      const LinkKind kind =
          pci_path_kind(chips[k]->route, chips[k]->numa, chips[i]->route, chips[i]->numa);
      builder.add_link(domain::ChipIndex{static_cast<int>(k)},
                       domain::ChipIndex{static_cast<int>(i)}, kind);
    }
  }
}

}  // namespace

std::vector<std::string> pci_route(const std::string& path) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    std::string part = path.substr(at, end - at);
    at = end + 1;
    if (out.empty() && (part.substr(0, 3) != "pci" || part.find(':') == std::string::npos))
      continue;
    out.push_back(std::move(part));
  }
  return out;
}

LinkKind pci_path_kind(const std::vector<std::string>& a, int numa_a,
                       const std::vector<std::string>& b, int numa_b) {
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = left - a.begin();
  if (common >= 2) {
    // Bridges below what the two share; the devices themselves are not bridges.
    const auto bridges = std::max<std::ptrdiff_t>(0, a.end() - left - 1) +
                         std::max<std::ptrdiff_t>(0, b.end() - right - 1);
    return bridges <= 2 ? LinkKind::pix : LinkKind::pxb;
  }
  if (common == 1) return LinkKind::phb;
  return numa_a >= 0 && numa_a == numa_b ? LinkKind::node : LinkKind::sys;
}

Result<domain::Observation> scan_pci(const SysfsTree& tree) {
  const std::vector<PciDevice> devices = list_devices(tree);
  std::vector<std::string> warnings;
  const std::string vendor = choose_vendor(devices, warnings);
  if (vendor.empty()) {
    return make_error(Errc::not_found, "no accelerators: " + tree.path(kDevices) +
                                           " lists no chip of NVIDIA, AMD, Huawei or MetaX (is the "
                                           "device there, and is /sys mounted?)");
  }
  std::vector<const PciDevice*> chips;
  for (const PciDevice& d : devices) {
    if (accelerator_vendor(d) == vendor) chips.push_back(&d);
  }
  domain::TopologyBuilder builder;
  builder.vendor = vendor;
  builder.model = pci_model(chips.front()->vendor, chips.front()->device);
  if (chips.front()->link_gigatransfers > 0) {
    builder.host_bandwidth = host_bandwidth(tree, chips.front()->link_gigatransfers);
  }
  const std::string machine = builder.model.empty() ? vendor + " machine" : builder.model;
  add_chips(chips, builder);
  add_nics(tree, devices, chips, builder);
  auto topology = std::move(builder).build();
  if (!topology) return std::move(topology).error().in("PCI bus");
  warnings.push_back(
      "links between chips (NVLink, XGMI, HCCS, …) are not visible on the PCI bus: only host paths "
      "are known; "
      "name the machine with --probe profile:NAME or file:PATH for link-aware placement");
  return domain::Observation{machine, std::move(topology).value(), std::move(warnings)};
}

}  // namespace chipweave::agent
