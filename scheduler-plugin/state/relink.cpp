#include "scheduler-plugin/state/relink.hpp"

#include <map>
#include <utility>

#include "common/domain/topology_builder.hpp"

namespace chipweave::sched {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::NodeTopology;
using domain::TopologyBuilder;

void copy_rest(const NodeTopology& t, TopologyBuilder& b) {
  const auto index = [&](int slot) { return t.chip(slot).index; };
  for (const domain::Chip& chip : t.chips()) b.add_chip(chip);
  for (int i = 0; i < t.chip_count(); ++i) {
    for (int j = i + 1; j < t.chip_count(); ++j) {
      if (t.host_path(i, j) != LinkKind::sys) b.add_link(index(i), index(j), t.host_path(i, j));
    }
  }
  for (const domain::Switch& s : t.switches()) {
    std::vector<TopologyBuilder::Port> ports;
    for (const domain::SwitchPort& p : s.ports) ports.push_back({index(p.slot), p.lanes, p.lanes_down});
    b.add_switch(s.name, s.kind, std::move(ports), s.gbps_per_lane);
  }
  for (const domain::Nic& nic : t.nics()) {
    std::map<ChipIndex, LinkKind> paths;
    for (std::size_t slot = 0; slot < nic.paths.size(); ++slot) {
      paths[index(static_cast<int>(slot))] = nic.paths[slot];
    }
    b.add_nic(nic.name, nic.pci, nic.numa, nic.gbps, std::move(paths));
  }
  for (const domain::ChipSet set : t.partitions()) {
    std::vector<ChipIndex> chips;
    for (const int slot : set) chips.push_back(index(slot));
    b.add_partition(std::move(chips));
  }
}

}  // namespace

Result<NodeTopology> relink(const NodeTopology& topology, const std::vector<LinkChange>& changes) {
  std::map<std::pair<int, int>, int> wanted;
  for (const LinkChange& change : changes) {
    const auto a = topology.slot_of(change.a);
    const auto b = topology.slot_of(change.b);
    const domain::DirectLink* link = a && b ? topology.link(*a, *b) : nullptr;
    const std::string pair = std::to_string(change.a.value) + "-" + std::to_string(change.b.value);
    if (link == nullptr) {
      return make_error(Errc::invalid_argument, "link " + pair + ": the machine has no such direct link");
    }
    if (change.lanes_down < 0 || change.lanes_down > link->lanes) {
      return make_error(Errc::invalid_argument,
                        "link " + pair + ": " + std::to_string(change.lanes_down) + " lanes down of " +
                            std::to_string(link->lanes));
    }
    wanted[{link->a, link->b}] = change.lanes_down;
  }
  TopologyBuilder builder;
  builder.vendor = topology.vendor();
  builder.model = topology.model();
  builder.p2p = topology.p2p();
  builder.host_bandwidth = topology.host_bandwidth();
  builder.rule = topology.rule();
  builder.super_pod = topology.super_pod();
  copy_rest(topology, builder);
  for (const domain::DirectLink& link : topology.links()) {
    const auto it = wanted.find({link.a, link.b});
    builder.add_link(topology.chip(link.a).index, topology.chip(link.b).index, link.kind, link.lanes,
                     link.gbps_per_lane, it == wanted.end() ? link.lanes_down : it->second);
  }
  return std::move(builder).build();
}

}  // namespace chipweave::sched
