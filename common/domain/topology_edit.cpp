#include "common/domain/topology_edit.hpp"

#include <map>
#include <utility>
#include <vector>

#include "common/domain/topology_builder.hpp"

namespace chipweave::domain {
namespace {

bool keeps(const TopologyEdit& edit, const Chip& chip) {
  return !edit.keeps_chip || edit.keeps_chip(chip);
}

void copy_pairs(const NodeTopology& t, const TopologyEdit& edit, TopologyBuilder& out) {
  for (DirectLink l : t.links()) {
    if (!keeps(edit, t.chip(l.a)) || !keeps(edit, t.chip(l.b))) continue;
    if (edit.link) edit.link(l);
    out.add_link(t.chip(l.a).index, t.chip(l.b).index, l.kind, l.lanes, l.gbps_per_lane,
                 l.lanes_down);
  }
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      if (!keeps(edit, t.chip(a)) || !keeps(edit, t.chip(b))) continue;
      const LinkKind path = edit.host_path ? edit.host_path(a, b) : t.host_path(a, b);
      if (path != LinkKind::sys) out.add_link(t.chip(a).index, t.chip(b).index, path);
    }
  }
}

void copy_around(const NodeTopology& t, const TopologyEdit& edit, TopologyBuilder& out) {
  for (const Switch& s : t.switches()) {
    std::vector<TopologyBuilder::Port> ports;
    for (SwitchPort p : s.ports) {
      if (!keeps(edit, t.chip(p.slot))) continue;
      if (edit.port) edit.port(s, p);
      ports.push_back({t.chip(p.slot).index, p.lanes, p.lanes_down});
    }
    out.add_switch(s.name, s.kind, std::move(ports), s.gbps_per_lane);
  }
  for (const Nic& n : edit.nics ? *edit.nics : t.nics()) {
    if (edit.keeps_nic && !edit.keeps_nic(n)) continue;
    std::map<ChipIndex, LinkKind> paths;
    for (std::size_t slot = 0; slot < n.paths.size(); ++slot) {
      const Chip& chip = t.chip(static_cast<int>(slot));
      if (keeps(edit, chip)) paths[chip.index] = n.paths[slot];
    }
    out.add_nic(n.name, n.pci, n.numa, n.gbps, std::move(paths));
  }
  for (const ChipSet set : t.partitions()) {
    std::vector<ChipIndex> chips;
    bool whole = true;
    for (const int slot : set) {
      chips.push_back(t.chip(slot).index);
      whole = whole && keeps(edit, t.chip(slot));
    }
    if (whole) out.add_partition(std::move(chips));
  }
}

}  // namespace

Result<NodeTopology> rebuilt(const NodeTopology& t, const TopologyEdit& edit) {
  TopologyBuilder builder;
  builder.vendor = t.vendor();
  builder.model = t.model();
  builder.p2p = t.p2p();
  builder.host_bandwidth = t.host_bandwidth();
  builder.rule = t.rule();
  builder.super_pod = t.super_pod();
  for (Chip chip : t.chips()) {
    if (!keeps(edit, chip)) continue;
    if (edit.chip) edit.chip(chip);
    builder.add_chip(std::move(chip));
  }
  copy_pairs(t, edit, builder);
  copy_around(t, edit, builder);
  return std::move(builder).build();
}

Result<NodeTopology> with_chips(const NodeTopology& t, std::function<void(Chip&)> edit) {
  TopologyEdit chips;
  chips.chip = std::move(edit);
  return rebuilt(t, chips);
}

}  // namespace chipweave::domain
