#include "node-agent/probes/host/host_view.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "node-agent/probes/host/host_signals.hpp"

namespace chipweave::agent {
namespace {

constexpr std::string_view kNode = "node";

std::vector<int> read_numa_nodes(const SysfsTree& tree) {
  std::vector<int> out;
  for (const std::string& name : tree.names("/sys/devices/system/node")) {
    if (!name.starts_with(kNode)) continue;
    const auto number = parse_number<int>(std::string_view(name).substr(kNode.size()));
    if (number && *number >= 0) out.push_back(*number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

const PciDevice* HostView::find(const std::string& address) const {
  const auto at = [this](const std::string& wanted) -> const PciDevice* {
    const auto it = std::lower_bound(
        devices.begin(), devices.end(), wanted,
        [](const PciDevice& d, const std::string& other) { return d.address < other; });
    return it != devices.end() && it->address == wanted ? &*it : nullptr;
  };
  if (const PciDevice* exact = at(address)) return exact;
  const std::size_t dot = address.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const PciDevice* first = at(address.substr(0, dot) + ".0");
  return first != nullptr && accelerator_vendor(*first) == domain::VendorId::amd ? first : nullptr;
}

HostView scan_host(const SysfsTree& tree) {
  HostView out;
  out.devices = list_pci(tree);
  out.nics = read_nics(tree, out.devices);
  out.numa_nodes = read_numa_nodes(tree);
  const auto cpu = tree.text("/proc/cpuinfo");
  out.intel = cpu && cpu->find("GenuineIntel") != std::string::npos;
  return out;
}

void add_host(const HostView& view, domain::Observation& observation) {
  if (auto completed = with_host(observation.topology, view)) {
    observation.topology = std::move(completed).value();
  } else {
    observation.warnings.push_back("NICs and host paths are left out: " + completed.error().text());
  }
  add_host_signals(view, observation);
}

HostView HostWatch::look() {
  HostView out = scan_host(tree_);
  nics_ = out.nics;
  seen_ = fingerprint();
  return out;
}

std::string HostWatch::fingerprint() const {
  std::string out = nic_states(tree_, nics_);
  for (const std::string& name : tree_.names(kPciDevices)) out += "\n" + name;
  return out;
}

}  // namespace chipweave::agent
