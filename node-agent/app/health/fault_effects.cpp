#include "node-agent/app/health/fault_effects.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/domain/topology_edit.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using domain::Health;

class Effects {
 public:
  Effects(const std::vector<domain::Port>& ports, const std::vector<Fault>& faults) {
    std::map<std::pair<ChipIndex, int>, const domain::Port*> by_number;
    for (const domain::Port& port : ports)
      by_number.emplace(std::pair(port.chip, port.number), &port);
    for (const Fault& fault : faults) {
      if (fault.effect != Effect::link) {
        take_chip(fault);
      } else if (fault.lanes > 0) {
        take_lanes(fault);
      } else if (fault.chip && fault.port) {
        const auto port = by_number.find({*fault.chip, *fault.port});
        // A port that is down is already counted in the lanes of "link.down".
        if (port != by_number.end() && port->second->up) take_port(*port->second);
      } else if (const auto nic = domain::nic_out_of_use(fault); !nic.empty()) {
        nics_.emplace(nic);
      } else if (fault.chip) {
        cut_.insert(*fault.chip);
      }
    }
  }

  bool any() const {
    return all_ != Health::healthy || !chips_.empty() || !links_.empty() || !bad_.empty() ||
           !switches_.empty() || !to_switch_.empty() || !nics_.empty() || !cut_.empty();
  }

  Health of(ChipIndex chip) const {
    const auto at = chips_.find(chip);
    return at == chips_.end() ? all_ : std::max(all_, at->second);
  }
  // Lanes down between two chips; each end may report different ones.
  int down(ChipIndex a, ChipIndex b) const {
    if (cut_.contains(a) || cut_.contains(b)) return limits::kMaxLanes;
    const auto link = links_.find(std::minmax(a, b));
    const int known = link == links_.end() ? 0 : link->second;
    return known + std::max(bad_lanes(a, b), bad_lanes(b, a));
  }
  int down(ChipIndex chip, const std::string& by_switch) const {
    if (cut_.contains(chip)) return limits::kMaxLanes;
    const auto known = switches_.find({chip, by_switch});
    const auto bad = to_switch_.find(chip);
    return (known == switches_.end() ? 0 : known->second) +
           (bad == to_switch_.end() ? 0 : bad->second);
  }
  bool takes(const std::string& nic) const { return nics_.contains(nic); }

 private:
  void take_chip(const Fault& fault) {
    const Health health = fault.effect == Effect::unusable  ? Health::unhealthy
                          : fault.effect == Effect::network ? Health::network_unhealthy
                                                            : Health::healthy;
    if (health == Health::healthy || !fault.part.empty()) return;
    Health& worst = fault.chip ? chips_[*fault.chip] : all_;
    worst = std::max(worst, health);
  }
  void take_lanes(const Fault& fault) {
    if (!fault.chip) return;
    int& lanes = fault.peer ? links_[std::minmax(*fault.chip, *fault.peer)]
                            : switches_[{*fault.chip, fault.part}];
    lanes = std::max(lanes, fault.lanes);
  }
  void take_port(const domain::Port& port) {
    ++(port.peer ? bad_[{port.chip, *port.peer}] : to_switch_[port.chip]);
  }
  int bad_lanes(ChipIndex from, ChipIndex to) const {
    const auto at = bad_.find({from, to});
    return at == bad_.end() ? 0 : at->second;
  }

  Health all_ = Health::healthy;
  std::map<ChipIndex, Health> chips_;
  std::map<std::pair<ChipIndex, ChipIndex>, int> links_;  // lanes down, as the probe sees them
  std::map<std::pair<ChipIndex, ChipIndex>, int> bad_;    // lanes that are up but must not be used
  std::map<std::pair<ChipIndex, std::string>, int> switches_;
  std::map<ChipIndex, int> to_switch_;
  std::set<std::string> nics_;
  std::set<ChipIndex> cut_;  // all their links
};

}  // namespace

Result<domain::NodeTopology> with_effects(const domain::NodeTopology& t,
                                          const std::vector<domain::Port>& ports,
                                          const std::vector<Fault>& faults) {
  const Effects effects(ports, faults);
  if (!effects.any()) return t;
  domain::TopologyEdit edit;
  edit.chip = [&](domain::Chip& chip) {
    chip.health = std::max(chip.health, effects.of(chip.index));
  };
  edit.link = [&](domain::DirectLink& link) {
    const int down = effects.down(t.chip(link.a).index, t.chip(link.b).index);
    link.lanes_down = std::min(link.lanes, std::max(link.lanes_down, down));
  };
  edit.port = [&](const domain::Switch& of, domain::SwitchPort& port) {
    const int down = effects.down(t.chip(port.slot).index, of.name);
    port.lanes_down = std::min(port.lanes, std::max(port.lanes_down, down));
  };
  edit.keeps_nic = [&](const domain::Nic& nic) { return !effects.takes(nic.name); };
  return domain::rebuilt(t, edit);
}

}  // namespace chipweave::agent
