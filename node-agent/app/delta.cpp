#include "node-agent/app/delta.hpp"

#include <algorithm>
#include <tuple>

namespace chipweave::agent {
namespace {

using domain::Chip;
using domain::NodeTopology;

bool same_chip(const Chip& x, const Chip& y) {
  const auto facts = [](const Chip& c) {
    return std::tie(c.index, c.id, c.model, c.pci, c.numa, c.memory_bytes, c.device_ips,
                    c.physical_id, c.logical_id, c.super_device_id);
  };
  return facts(x) == facts(y);
}

bool same_link(const domain::DirectLink& x, const domain::DirectLink& y) {
  const auto facts = [](const domain::DirectLink& l) {
    return std::tie(l.a, l.b, l.kind, l.lanes, l.gbps_per_lane);
  };
  return facts(x) == facts(y);
}

bool same_switch(const domain::Switch& x, const domain::Switch& y) {
  const auto same_port = [](const domain::SwitchPort& p, const domain::SwitchPort& q) {
    return p.slot == q.slot && p.lanes == q.lanes && p.lanes_down == q.lanes_down;
  };
  return x.name == y.name && x.kind == y.kind && x.gbps_per_lane == y.gbps_per_lane &&
         std::equal(x.ports.begin(), x.ports.end(), y.ports.begin(), y.ports.end(), same_port);
}

bool same_nic(const domain::Nic& x, const domain::Nic& y) {
  return x.name == y.name && x.pci == y.pci && x.numa == y.numa && x.gbps == y.gbps &&
         x.paths == y.paths;
}

bool same_host_side(const NodeTopology& x, const NodeTopology& y) {
  for (int a = 0; a < x.chip_count(); ++a) {
    for (int b = a + 1; b < x.chip_count(); ++b) {
      if (x.host_path(a, b) != y.host_path(a, b)) return false;
    }
  }
  for (const auto kind : {domain::LinkKind::board, domain::LinkKind::pix, domain::LinkKind::pxb,
                          domain::LinkKind::phb, domain::LinkKind::node, domain::LinkKind::sys}) {
    if (x.host_bandwidth().of(kind) != y.host_bandwidth().of(kind)) return false;
  }
  return x.p2p() == y.p2p() &&
         std::equal(x.nics().begin(), x.nics().end(), y.nics().begin(), y.nics().end(), same_nic);
}

bool same_super_pod(const NodeTopology& x, const NodeTopology& y) {
  if (x.super_pod().has_value() != y.super_pod().has_value()) return false;
  return !x.super_pod() || (x.super_pod()->id == y.super_pod()->id &&
                            x.super_pod()->server_index == y.super_pod()->server_index);
}

// Everything but health and lanes down of direct links.
bool same_machine(const NodeTopology& x, const NodeTopology& y) {
  return x.vendor() == y.vendor() && x.model() == y.model() && x.rule() == y.rule() &&
         x.partitions() == y.partitions() && same_super_pod(x, y) &&
         std::equal(x.chips().begin(), x.chips().end(), y.chips().begin(), y.chips().end(),
                    same_chip) &&
         std::equal(x.links().begin(), x.links().end(), y.links().begin(), y.links().end(),
                    same_link) &&
         std::equal(x.switches().begin(), x.switches().end(), y.switches().begin(),
                    y.switches().end(), same_switch) &&
         same_host_side(x, y);
}

}  // namespace

std::optional<Delta> delta_between(const NodeState& from, const NodeState& to) {
  const NodeTopology& x = from.topology;
  const NodeTopology& y = to.topology;
  if (from.machine != to.machine || from.resources != to.resources || !same_machine(x, y)) {
    return std::nullopt;
  }
  Delta out;
  for (int slot = 0; slot < y.chip_count(); ++slot) {
    const Chip& chip = y.chip(slot);
    if (chip.health != x.chip(slot).health) out.chips.push_back({chip.index, chip.health});
  }
  for (std::size_t i = 0; i < y.links().size(); ++i) {
    const domain::DirectLink& l = y.links()[i];
    if (l.lanes_down == x.links()[i].lanes_down) continue;
    out.links.push_back({y.chip(l.a).index, y.chip(l.b).index, l.lanes_down});
  }
  if (from.faults != to.faults) out.faults = to.faults;
  if (from.carried != to.carried) out.carried = to.carried;
  return out;
}

}  // namespace chipweave::agent
