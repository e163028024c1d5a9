#include "common/domain/node_topology.hpp"

#include <algorithm>

namespace chipweave::domain {

ChipSet Switch::members() const {
  ChipSet out;
  for (const SwitchPort& port : ports) out.insert(port.slot);
  return out;
}

double HostBandwidth::of(LinkKind kind) const {
  switch (kind) {
    case LinkKind::board:
      return board;
    case LinkKind::pix:
      return pix;
    case LinkKind::pxb:
      return pxb;
    case LinkKind::phb:
      return phb;
    case LinkKind::node:
      return node;
    case LinkKind::sys:
      return sys;
    case LinkKind::self:
      return 5000;
    case LinkKind::nvlink:
    case LinkKind::nvswitch:
    case LinkKind::xgmi:
    case LinkKind::hccs:
    case LinkKind::sio:
    case LinkKind::ub:
    case LinkKind::metaxlink:
      return 0;  // not host paths
  }
  return 0;
}

std::optional<int> NodeTopology::slot_of(ChipIndex index) const {
  const auto it = std::lower_bound(chips_.begin(), chips_.end(), index,
                                   [](const Chip& c, ChipIndex i) { return c.index < i; });
  if (it == chips_.end() || it->index != index) return std::nullopt;
  return static_cast<int>(it - chips_.begin());
}

const DirectLink* NodeTopology::link(int a, int b) const {
  const std::pair<int, int> key = std::minmax(a, b);
  const auto it =
      std::lower_bound(links_.begin(), links_.end(), key,
                       [](const DirectLink& l, const auto& k) { return std::pair(l.a, l.b) < k; });
  return it != links_.end() && it->a == key.first && it->b == key.second ? &*it : nullptr;
}

ChipSet NodeTopology::unhealthy() const {
  ChipSet out;
  for (int s = 0; s < chip_count(); ++s) {
    if (chip(s).health == Health::unhealthy) out.insert(s);
  }
  return out;
}

ChipSet NodeTopology::network_unhealthy() const {
  ChipSet out;
  for (int s = 0; s < chip_count(); ++s) {
    if (chip(s).health == Health::network_unhealthy) out.insert(s);
  }
  return out;
}

std::vector<int> NodeTopology::indices(ChipSet set) const {
  std::vector<int> out;
  out.reserve(static_cast<std::size_t>(set.size()));
  for (const int s : set) out.push_back(chip(s).index.value);
  return out;
}

bool NodeTopology::take_down(int a, int b, int lanes) {
  const auto key = std::minmax(a, b);
  for (DirectLink& l : links_) {
    if (l.a == key.first && l.b == key.second) {
      l.lanes_down += std::clamp(lanes, 0, l.lanes_up());
      return true;
    }
  }
  return false;
}

NodeTopology NodeTopology::healed() const {
  NodeTopology out = *this;
  for (DirectLink& l : out.links_) l.lanes_down = 0;
  for (Switch& s : out.switches_) {
    for (SwitchPort& p : s.ports) p.lanes_down = 0;
  }
  return out;
}

bool NodeTopology::has_lanes_down() const {
  const auto port_down = [](const SwitchPort& p) { return p.lanes_down > 0; };
  return std::any_of(links_.begin(), links_.end(),
                     [](const DirectLink& l) { return l.lanes_down > 0; }) ||
         std::any_of(switches_.begin(), switches_.end(), [&port_down](const Switch& s) {
           return std::any_of(s.ports.begin(), s.ports.end(), port_down);
         });
}

NodeTopology NodeTopology::with_rates(const std::function<double(LinkKind, double)>& lane,
                                      const HostBandwidth& host) const {
  NodeTopology out = *this;
  for (DirectLink& l : out.links_) l.gbps_per_lane = lane(l.kind, l.gbps_per_lane);
  for (Switch& s : out.switches_) s.gbps_per_lane = lane(s.kind, s.gbps_per_lane);
  out.host_bandwidth_ = host;
  return out;
}

}  // namespace chipweave::domain
