#include "node-agent/probes/host/pci/pci_bus.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/base/limits.hpp"
#include "node-agent/probes/sysfs/sysfs_value.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::VendorId;

constexpr std::uint32_t kNetwork = 0x02;
constexpr std::uint32_t kDisplay = 0x03;
constexpr std::uint32_t kAccelerator = 0x12;

std::optional<PciDevice> read_device(const SysfsTree& tree, const std::string& address) {
  const std::string at = kPciDevices + address + "/";
  const auto device_class = tree.text(at + "class");
  PciDevice out;
  out.address = address;
  out.device_class = hex_of(device_class);
  const std::uint32_t base = out.device_class >> 16U;
  // Old InfiniBand adapters have another class (0x0c06), but all of them have this folder.
  const bool wanted = base == kNetwork || base == kDisplay || base == kAccelerator ||
                      tree.exists(at + "infiniband");
  if (!device_class || !wanted || tree.exists(at + "physfn")) return std::nullopt;
  const auto vendor = tree.text(at + "vendor");
  if (!vendor) return std::nullopt;
  out.vendor = hex_of(vendor);
  out.device = hex_of(tree.text(at + "device"));
  const int numa = int_of(tree.text(at + "numa_node"), -1);
  out.numa = numa >= 0 && numa <= limits::kMaxNumaNode ? numa : -1;
  out.link_gigatransfers = leading(tree.text(at + "max_link_speed"));
  if (const auto path = tree.resolved(kPciDevices + address)) out.route = pci_route(*path);
  return out;
}

}  // namespace

std::vector<PciDevice> list_pci(const SysfsTree& tree) {
  std::vector<PciDevice> out;
  for (const std::string& address : tree.names(kPciDevices)) {
    if (auto device = read_device(tree, address)) out.push_back(std::move(*device));
  }
  return out;
}

// Class 0x0300 (VGA) counts for NVIDIA only: Huawei's is the graphics of the board controller,
// AMD's that of the processor or a desktop card without KFD.
domain::VendorId accelerator_vendor(const PciDevice& d) {
  const std::uint32_t base = d.device_class >> 16U;
  const bool vga = (d.device_class >> 8U) == 0x0300;
  const bool display = base == kDisplay;
  const bool accelerator = base == kAccelerator;
  switch (d.vendor) {
    case 0x10de:
      return display ? VendorId::nvidia : VendorId::unknown;
    case 0x1002:
      return accelerator || (display && !vga) ? VendorId::amd : VendorId::unknown;
    case 0x19e5:
      return accelerator ? VendorId::ascend : VendorId::unknown;
    case 0x9999:
      return accelerator || display ? VendorId::metax : VendorId::unknown;
    default:
      return VendorId::unknown;
  }
}

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

}  // namespace chipweave::agent
