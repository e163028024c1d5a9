// with_host: the same machine built again with what the host knows of it.
#include <map>
#include <utility>
#include <vector>

#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::NodeTopology;
using domain::TopologyBuilder;

class Completion {
 public:
  Completion(const NodeTopology& topology, const HostView& view) : t_(topology), view_(view) {
    for (const domain::Chip& chip : t_.chips()) {
      devices_.push_back(chip.pci.empty() ? nullptr : view.find(chip.pci));
    }
  }

  Result<NodeTopology> run() {
    out_.vendor = t_.vendor();
    out_.model = t_.model();
    out_.p2p = t_.p2p();
    out_.host_bandwidth = t_.host_bandwidth();
    out_.rule = t_.rule();
    out_.super_pod = t_.super_pod();
    for (int slot = 0; slot < t_.chip_count(); ++slot) {
      domain::Chip chip = t_.chip(slot);
      chip.numa = numa(slot);
      out_.add_chip(std::move(chip));
    }
    add_links();
    add_switches();
    if (view_.nics.empty()) {
      keep_nics();
    } else {
      add_nics();
    }
    for (const domain::ChipSet set : t_.partitions()) out_.add_partition(indices(set));
    return std::move(out_).build();
  }

 private:
  const PciDevice* device(int slot) const { return devices_[static_cast<std::size_t>(slot)]; }
  ChipIndex index(int slot) const { return t_.chip(slot).index; }

  std::vector<ChipIndex> indices(domain::ChipSet set) const {
    std::vector<ChipIndex> out;
    for (const int slot : set) out.push_back(index(slot));
    return out;
  }

  int numa(int slot) const {
    const PciDevice* found = device(slot);
    return found != nullptr && found->numa >= 0 ? found->numa : t_.chip(slot).numa;
  }

  // A source without the PCI tree knows NODE and SYS only; what it says more closely stays.
  LinkKind path(int a, int b) const {
    const LinkKind stated = t_.host_path(a, b);
    const PciDevice* from = device(a);
    const PciDevice* to = device(b);
    const bool coarse = stated == LinkKind::node || stated == LinkKind::sys;
    if (!coarse || from == nullptr || to == nullptr || from == to) return stated;
    if (from->route.empty() || to->route.empty()) return stated;
    return pci_path_kind(from->route, numa(a), to->route, numa(b));
  }

  LinkKind nic_path(const HostNic& nic, int slot) const {
    const PciDevice* chip = device(slot);
    static const std::vector<std::string> kNowhere;
    return pci_path_kind(nic.at.route, nic.at.numa, chip == nullptr ? kNowhere : chip->route,
                         numa(slot));
  }

  void add_links() {
    for (const domain::DirectLink& l : t_.links()) {
      out_.add_link(index(l.a), index(l.b), l.kind, l.lanes, l.gbps_per_lane, l.lanes_down);
    }
    for (int a = 0; a < t_.chip_count(); ++a) {
      for (int b = a + 1; b < t_.chip_count(); ++b) out_.add_link(index(a), index(b), path(a, b));
    }
  }

  void add_switches() {
    for (const domain::Switch& s : t_.switches()) {
      std::vector<TopologyBuilder::Port> ports;
      for (const domain::SwitchPort& p : s.ports) {
        ports.push_back({index(p.slot), p.lanes, p.lanes_down});
      }
      out_.add_switch(s.name, s.kind, std::move(ports), s.gbps_per_lane);
    }
  }

  void keep_nics() {
    for (const domain::Nic& nic : t_.nics()) {
      std::map<ChipIndex, LinkKind> paths;
      for (int slot = 0; slot < t_.chip_count(); ++slot) {
        paths[index(slot)] = nic.paths[static_cast<std::size_t>(slot)];
      }
      out_.add_nic(nic.name, nic.pci, nic.numa, nic.gbps, std::move(paths));
    }
  }

  void add_nics() {
    for (const HostNic& nic : view_.nics) {
      std::map<ChipIndex, LinkKind> paths;
      for (int slot = 0; slot < t_.chip_count(); ++slot) paths[index(slot)] = nic_path(nic, slot);
      out_.add_nic(nic.name, nic.at.address, nic.at.numa, nic.gbps(), std::move(paths));
    }
  }

  const NodeTopology& t_;
  const HostView& view_;
  std::vector<const PciDevice*> devices_;  // by slot; null: not on the bus that the view has
  TopologyBuilder out_;
};

}  // namespace

Result<NodeTopology> with_host(const NodeTopology& topology, const HostView& view) {
  return Completion(topology, view).run();
}

}  // namespace chipweave::agent
