// with_host: rebuilds the machine with the host's data.
#include <utility>
#include <vector>

#include "common/domain/topology_edit.hpp"
#include "node-agent/probes/host/host_view.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

class Completion {
 public:
  Completion(const NodeTopology& topology, const HostView& view) : t_(topology), view_(view) {
    for (const domain::Chip& chip : t_.chips()) {
      devices_.push_back(chip.pci.empty() ? nullptr : view.find(chip.pci));
    }
  }

  Result<NodeTopology> run() const {
    domain::TopologyEdit edit;
    edit.chip = [this](domain::Chip& chip) { chip.numa = numa(*t_.slot_of(chip.index)); };
    edit.host_path = [this](int a, int b) { return path(a, b); };
    if (!view_.nics.empty()) edit.nics = nics();
    return domain::rebuilt(t_, edit);
  }

 private:
  const PciDevice* device(int slot) const { return devices_[static_cast<std::size_t>(slot)]; }

  int numa(int slot) const {
    const PciDevice* found = device(slot);
    return found != nullptr && found->numa >= 0 ? found->numa : t_.chip(slot).numa;
  }

  // A source without the PCI tree knows only NODE and SYS; closer paths stay.
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

  std::vector<domain::Nic> nics() const {
    std::vector<domain::Nic> out;
    for (const HostNic& nic : view_.nics) {
      domain::Nic one{nic.name, nic.at.address, nic.at.numa, nic.gbps(), {}};
      for (int slot = 0; slot < t_.chip_count(); ++slot) one.paths.push_back(nic_path(nic, slot));
      out.push_back(std::move(one));
    }
    return out;
  }

  const NodeTopology& t_;
  const HostView& view_;
  std::vector<const PciDevice*> devices_;  // by slot; null: not on the view's bus
};

}  // namespace

Result<NodeTopology> with_host(const NodeTopology& topology, const HostView& view) {
  return Completion(topology, view).run();
}

}  // namespace chipweave::agent
