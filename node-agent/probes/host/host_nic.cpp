#include "node-agent/probes/host/host_nic.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/limits.hpp"
#include "node-agent/probes/sysfs/sysfs_value.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxPorts = 8;
constexpr std::size_t kMaxInterfaces = 16;
constexpr int kMaxGids = 256;  // the longest table of a driver

std::string folder_of(const PciDevice& device) { return kPciDevices + device.address + "/"; }

std::string port_folder(const PciDevice& device, const std::string& rdma, int port) {
  return folder_of(device) + "infiniband/" + rdma + "/ports/" + std::to_string(port) + "/";
}

RdmaPort read_port(const SysfsTree& tree, const std::string& at, int number) {
  RdmaPort out;
  out.number = number;
  out.state = word_of(tree.text(at + "state"));
  out.phys_state = word_of(tree.text(at + "phys_state"));
  out.layer = word_of(tree.text(at + "link_layer"));
  // A port that is down states the rate of a single slow lane.
  if (!out.down()) out.gbps = leading(tree.text(at + "rate")) / 8;  // Gbit/s
  out.link_downed = count_of(tree.text(at + "counters/link_downed"));
  return out;
}

// Entries that are not in use cannot be read or are zero.
std::optional<RoceGid> read_gid(const SysfsTree& tree, const std::string& at) {
  constexpr std::string_view kMappedIpv4 = "0000:0000:0000:0000:0000:ffff:";
  for (int i = 0; i < kMaxGids; ++i) {
    const std::string entry = std::to_string(i);
    const auto gid = tree.text(at + "gids/" + entry);
    if (!gid && !tree.exists(at + "gids/" + entry)) break;
    if (!gid || gid->substr(0, kMappedIpv4.size()) != kMappedIpv4) continue;
    if (tree.text(at + "gid_attrs/types/" + entry) != "RoCE v2") continue;
    return RoceGid{i, plain(*gid), plain(tree.text(at + "gid_attrs/ndevs/" + entry).value_or(""))};
  }
  return std::nullopt;
}

NetInterface read_interface(const SysfsTree& tree, const std::string& at, std::string name) {
  NetInterface out;
  out.name = std::move(name);
  out.number = std::max(0, int_of(tree.text(at + "ifindex"), 0));
  if (const auto master = tree.resolved(at + "master");
      master && tree.exists(at + "bonding_slave")) {
    out.master = master->substr(master->find_last_of('/') + 1);
  }
  // Reading it fails for an interface that is administratively down.
  if (const auto carrier = count_of(tree.text(at + "carrier"))) out.carrier = *carrier == 1;
  out.carrier_changes = count_of(tree.text(at + "carrier_changes"));
  out.gbps = leading(tree.text(at + "speed")) / 8000;  // Mbit/s
  return out;
}

void read_rdma(const SysfsTree& tree, HostNic& nic) {
  const auto names = tree.names(folder_of(nic.at) + "infiniband");
  if (names.empty()) return;
  nic.rdma = nic.name = names.front();
  const std::string at = folder_of(nic.at) + "infiniband/" + nic.rdma + "/";
  nic.guid = plain(tree.text(at + "node_guid").value_or(""));
  for (const std::string& entry : tree.names(at + "ports")) {
    const auto number = count_of(entry);
    if (!number || *number > 255 || nic.ports.size() == kMaxPorts) continue;
    const std::string port = at + "ports/" + entry + "/";
    nic.ports.push_back(read_port(tree, port, static_cast<int>(*number)));
    if (!nic.gid) nic.gid = read_gid(tree, port);
  }
}

std::optional<HostNic> read_nic(const SysfsTree& tree, const PciDevice& device) {
  HostNic out;
  out.name = device.address;
  out.at = device;
  const std::string net = folder_of(device) + "net/";
  for (const std::string& name : tree.names(net)) {
    if (out.interfaces.size() == kMaxInterfaces) break;
    out.interfaces.push_back(read_interface(tree, net + name + "/", name));
  }
  if (!out.interfaces.empty()) out.name = out.interfaces.front().name;
  read_rdma(tree, out);
  if (!tree.exists(folder_of(device) + "class")) return std::nullopt;
  return out;
}

const HostNic* rdma_of_bond(const std::vector<HostNic>& nics, const HostNic& member) {
  const auto in_bond = [](const HostNic& nic, const std::string& bond) {
    return std::any_of(nic.interfaces.begin(), nic.interfaces.end(),
                       [&bond](const NetInterface& i) { return i.master == bond; });
  };
  for (const NetInterface& own : member.interfaces) {
    if (own.master.empty()) continue;
    for (const HostNic& other : nics) {
      if (!other.rdma.empty() && in_bond(other, own.master)) return &other;
    }
  }
  return nullptr;
}

// A bond of two ports of one RDMA adapter has one RDMA device, at the first PCI function; the
// second function has only an interface and does not count as an adapter.
void fold_bonds(std::vector<HostNic>& nics) {
  for (std::size_t i = 0; i < nics.size();) {
    const HostNic* holder = nics[i].rdma.empty() ? rdma_of_bond(nics, nics[i]) : nullptr;
    if (holder == nullptr) {
      ++i;
      continue;
    }
    auto& into = nics[static_cast<std::size_t>(holder - nics.data())].interfaces;
    into.insert(into.end(), nics[i].interfaces.begin(), nics[i].interfaces.end());
    nics.erase(nics.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

double HostNic::gbps() const {
  double out = 0;
  for (const RdmaPort& port : ports) out = std::max(out, port.gbps);
  if (out > 0 || !rdma.empty()) return out;
  return interfaces.empty() ? 0 : interfaces.front().gbps;
}

bool HostNic::down() const {
  return !ports.empty() &&
         std::all_of(ports.begin(), ports.end(), [](const RdmaPort& p) { return p.down(); });
}

std::vector<HostNic> read_nics(const SysfsTree& tree, const std::vector<PciDevice>& devices) {
  std::vector<HostNic> out;
  for (const PciDevice& device : devices) {
    const bool network = (device.device_class >> 16U) == 0x02;
    if (!network && !tree.exists(folder_of(device) + "infiniband")) continue;
    if (out.size() == limits::kMaxNics) break;
    if (auto nic = read_nic(tree, device)) out.push_back(std::move(*nic));
  }
  fold_bonds(out);
  return out;
}

std::string nic_states(const SysfsTree& tree, const std::vector<HostNic>& nics) {
  std::string out;
  for (const HostNic& nic : nics) {
    for (const std::string& name : tree.names(folder_of(nic.at) + "infiniband")) out += name + "|";
    for (const RdmaPort& port : nic.ports) {
      const std::string at = port_folder(nic.at, nic.rdma, port.number);
      out += tree.text(at + "state").value_or("gone") + "|";
      out += tree.text(at + "phys_state").value_or("") + "|";
    }
    for (const NetInterface& interface : nic.interfaces) {
      if (nic.rdma.empty()) break;
      const std::string at = "/sys/class/net/" + interface.name + "/";
      out += tree.text(at + "carrier_changes").value_or("") + "|";
    }
    out += "\n";
  }
  return out;
}

}  // namespace chipweave::agent
