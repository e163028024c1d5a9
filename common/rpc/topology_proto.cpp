#include "common/rpc/topology_proto.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/rpc/enum_table.hpp"

namespace chipweave::rpc {
namespace {

using domain::ChipIndex;
using domain::Health;
using domain::LinkKind;

constexpr EnumTable<LinkKind, v1::LinkKind, 13> kKinds = {{
    {LinkKind::nvlink, v1::LINK_KIND_NVLINK},
    {LinkKind::nvswitch, v1::LINK_KIND_NVSWITCH},
    {LinkKind::xgmi, v1::LINK_KIND_XGMI},
    {LinkKind::hccs, v1::LINK_KIND_HCCS},
    {LinkKind::sio, v1::LINK_KIND_SIO},
    {LinkKind::ub, v1::LINK_KIND_UB},
    {LinkKind::metaxlink, v1::LINK_KIND_METAXLINK},
    {LinkKind::board, v1::LINK_KIND_BOARD},
    {LinkKind::pix, v1::LINK_KIND_PIX},
    {LinkKind::pxb, v1::LINK_KIND_PXB},
    {LinkKind::phb, v1::LINK_KIND_PHB},
    {LinkKind::node, v1::LINK_KIND_NODE},
    {LinkKind::sys, v1::LINK_KIND_SYS},
}};

constexpr EnumTable<Health, v1::Health, 3> kHealth = {{
    {Health::healthy, v1::HEALTH_HEALTHY},
    {Health::network_unhealthy, v1::HEALTH_NETWORK_UNHEALTHY},
    {Health::unhealthy, v1::HEALTH_UNHEALTHY},
}};

// Limits of a message; a peer that exceeds them only wastes our time.
constexpr int kMaxPairs = limits::kMaxChips * (limits::kMaxChips - 1);  // each pair from both sides
constexpr int kMaxDeviceIps = 16;

// Collects the first failure of the checks that come before the builder.
class Check {
 public:
  void text(const std::string& value, std::string_view key, int i = -1) {
    if (value.size() <= limits::kMaxNameBytes) return;
    fail(Errc::limit_exceeded, at(key, i) + " has " + std::to_string(value.size()) +
                                   " bytes, at most " + std::to_string(limits::kMaxNameBytes) +
                                   " are accepted");
  }
  void count(int value, int most, std::string_view key, int i = -1) {
    if (value <= most) return;
    fail(Errc::limit_exceeded, at(key, i) + " has " + std::to_string(value) + " entries, at most " +
                                   std::to_string(most) + " are accepted");
  }
  void wrong(std::string_view key, int i, std::string_view why) {
    fail(Errc::invalid_argument, at(key, i) + " " + std::string(why));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  static std::string at(std::string_view key, int i) {
    std::string out(key);
    if (i < 0) return out;
    const std::size_t dot = out.find('.');
    return out.insert(dot == std::string::npos ? out.size() : dot, "[" + std::to_string(i) + "]");
  }
  void fail(Errc code, std::string message) {
    if (!error_) error_ = make_error(code, std::move(message));
  }
  std::optional<Error> error_;
};

void check_sizes(const v1::NodeTopology& m, Check& check) {
  check.text(m.vendor(), "vendor");
  check.text(m.model(), "model");
  check.count(m.chips_size(), limits::kMaxChips, "chips");
  check.count(m.links_size(), kMaxPairs, "links");
  check.count(m.host_paths_size(), kMaxPairs, "host_paths");
  check.count(m.switches_size(), static_cast<int>(limits::kMaxSwitches), "switches");
  check.count(m.nics_size(), static_cast<int>(limits::kMaxNics), "nics");
  check.count(m.partitions_size(), static_cast<int>(limits::kMaxPartitions), "partitions");
  check.text(m.rule().kind(), "rule.kind");
  check.text(m.super_pod().id(), "super_pod.id");
  if (check.error()) return;
  for (int i = 0; i < m.chips_size(); ++i) {
    const v1::Chip& c = m.chips(i);
    check.text(c.id(), "chips.id", i);
    check.text(c.model(), "chips.model", i);
    check.text(c.pci(), "chips.pci", i);
    check.count(c.device_ips_size(), kMaxDeviceIps, "chips.device_ips", i);
    for (const std::string& ip : c.device_ips()) check.text(ip, "chips.device_ips", i);
  }
  for (int i = 0; i < m.switches_size(); ++i) {
    check.text(m.switches(i).name(), "switches.name", i);
    check.count(m.switches(i).ports_size(), limits::kMaxChips, "switches.ports", i);
  }
  for (int i = 0; i < m.nics_size(); ++i) {
    check.text(m.nics(i).name(), "nics.name", i);
    check.text(m.nics(i).pci(), "nics.pci", i);
    check.count(m.nics(i).paths_size(), limits::kMaxChips, "nics.paths", i);
  }
  for (int i = 0; i < m.partitions_size(); ++i) {
    check.count(m.partitions(i).chips_size(), limits::kMaxChips, "partitions.chips", i);
  }
}

void add_chips(const v1::NodeTopology& m, domain::TopologyBuilder& out, Check& check) {
  for (int i = 0; i < m.chips_size(); ++i) {
    const v1::Chip& c = m.chips(i);
    domain::Chip chip;
    chip.index = ChipIndex{c.index()};
    chip.id = c.id();
    chip.model = c.model();
    chip.pci = c.pci();
    chip.numa = c.has_numa() ? c.numa() : -1;
    chip.memory_bytes = c.memory_bytes();
    chip.device_ips.assign(c.device_ips().begin(), c.device_ips().end());
    if (c.has_physical_id()) chip.physical_id = c.physical_id();
    if (c.has_logical_id()) chip.logical_id = c.logical_id();
    if (c.has_super_device_id()) chip.super_device_id = c.super_device_id();
    if (const auto health = from_proto(c.health())) {
      chip.health = *health;
    } else {
      check.wrong("chips.health", i, "is not a state this version knows");
    }
    out.add_chip(std::move(chip));
  }
}

void add_pairs(const v1::NodeTopology& m, domain::TopologyBuilder& out, Check& check) {
  for (int i = 0; i < m.links_size(); ++i) {
    const v1::Link& l = m.links(i);
    const auto kind = from_proto(l.kind());
    if (!kind || !domain::is_fast(*kind)) {
      check.wrong("links.kind", i, "must be a fast link kind");
      continue;
    }
    out.add_link(ChipIndex{l.a()}, ChipIndex{l.b()}, *kind, l.lanes(), l.gbps_per_lane(),
                 l.lanes_down());
  }
  for (int i = 0; i < m.host_paths_size(); ++i) {
    const v1::HostPath& p = m.host_paths(i);
    const auto kind = from_proto(p.kind());
    if (!kind || !domain::is_host_path(*kind)) {
      check.wrong("host_paths.kind", i, "must be a host path kind (BOARD … SYS)");
      continue;
    }
    out.add_link(ChipIndex{p.a()}, ChipIndex{p.b()}, *kind);
  }
}

void add_around(const v1::NodeTopology& m, domain::TopologyBuilder& out, Check& check) {
  for (int i = 0; i < m.switches_size(); ++i) {
    const v1::Switch& s = m.switches(i);
    const auto kind = from_proto(s.kind());
    if (!kind || !domain::is_fast(*kind)) {
      check.wrong("switches.kind", i, "must be a fast link kind");
      continue;
    }
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const v1::SwitchPort& p : s.ports()) {
      ports.push_back({ChipIndex{p.chip()}, p.lanes(), p.lanes_down()});
    }
    out.add_switch(s.name(), *kind, std::move(ports), s.gbps_per_lane());
  }
  for (int i = 0; i < m.nics_size(); ++i) {
    const v1::Nic& n = m.nics(i);
    std::map<ChipIndex, LinkKind> paths;
    for (const v1::NicPath& p : n.paths()) {
      const auto kind = from_proto(p.kind());
      if (!kind || !domain::is_host_path(*kind)) {
        check.wrong("nics.paths", i, "must be host path kinds (BOARD … SYS)");
        continue;
      }
      paths[ChipIndex{p.chip()}] = *kind;
    }
    out.add_nic(n.name(), n.pci(), n.has_numa() ? n.numa() : -1, n.gbps(), std::move(paths));
  }
  for (const v1::Partition& p : m.partitions()) {
    std::vector<ChipIndex> chips;
    for (const int index : p.chips()) chips.push_back(ChipIndex{index});
    out.add_partition(std::move(chips));
  }
}

void put_pairs(const domain::NodeTopology& t, v1::NodeTopology& out) {
  const auto index = [&t](int slot) { return t.chip(slot).index.value; };
  for (const domain::DirectLink& l : t.links()) {
    v1::Link& m = *out.add_links();
    m.set_a(index(l.a));
    m.set_b(index(l.b));
    m.set_kind(to_proto(l.kind));
    m.set_lanes(l.lanes);
    m.set_lanes_down(l.lanes_down);
    m.set_gbps_per_lane(l.gbps_per_lane);
  }
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      if (t.host_path(a, b) == LinkKind::sys) continue;
      v1::HostPath& m = *out.add_host_paths();
      m.set_a(index(a));
      m.set_b(index(b));
      m.set_kind(to_proto(t.host_path(a, b)));
    }
  }
}

void put_chips(const domain::NodeTopology& t, v1::NodeTopology& out) {
  for (const domain::Chip& c : t.chips()) {
    v1::Chip& m = *out.add_chips();
    m.set_index(c.index.value);
    m.set_id(c.id);
    m.set_model(c.model);
    m.set_pci(c.pci);
    if (c.numa != -1) m.set_numa(c.numa);
    m.set_memory_bytes(c.memory_bytes);
    for (const std::string& ip : c.device_ips) m.add_device_ips(ip);
    if (c.physical_id) m.set_physical_id(*c.physical_id);
    if (c.logical_id) m.set_logical_id(*c.logical_id);
    if (c.super_device_id) m.set_super_device_id(*c.super_device_id);
    m.set_health(to_proto(c.health));
  }
}

void put_around(const domain::NodeTopology& t, v1::NodeTopology& out) {
  for (const domain::Switch& s : t.switches()) {
    v1::Switch& m = *out.add_switches();
    m.set_name(s.name);
    m.set_kind(to_proto(s.kind));
    m.set_gbps_per_lane(s.gbps_per_lane);
    for (const domain::SwitchPort& p : s.ports) {
      v1::SwitchPort& port = *m.add_ports();
      port.set_chip(t.chip(p.slot).index.value);
      port.set_lanes(p.lanes);
      port.set_lanes_down(p.lanes_down);
    }
  }
  for (const domain::Nic& n : t.nics()) {
    v1::Nic& m = *out.add_nics();
    m.set_name(n.name);
    m.set_pci(n.pci);
    if (n.numa != -1) m.set_numa(n.numa);
    m.set_gbps(n.gbps);
    for (std::size_t slot = 0; slot < n.paths.size(); ++slot) {
      if (n.paths[slot] == LinkKind::sys) continue;
      v1::NicPath& path = *m.add_paths();
      path.set_chip(t.chip(static_cast<int>(slot)).index.value);
      path.set_kind(to_proto(n.paths[slot]));
    }
  }
  for (const domain::ChipSet set : t.partitions()) {
    v1::Partition& m = *out.add_partitions();
    for (const int index : t.indices(set)) m.add_chips(index);
  }
}

}  // namespace

v1::Health to_proto(domain::Health health) {
  return theirs_of(kHealth, health).value_or(v1::HEALTH_UNSPECIFIED);
}
std::optional<domain::Health> from_proto(v1::Health health) { return ours_of(kHealth, health); }

v1::LinkKind to_proto(LinkKind kind) {
  return theirs_of(kKinds, kind).value_or(v1::LINK_KIND_UNSPECIFIED);
}
std::optional<LinkKind> from_proto(v1::LinkKind kind) { return ours_of(kKinds, kind); }

v1::NodeTopology to_proto(const domain::NodeTopology& t) {
  v1::NodeTopology out;
  out.set_vendor(t.vendor());
  out.set_model(t.model());
  put_chips(t, out);
  put_pairs(t, out);
  put_around(t, out);
  v1::HostBandwidth& host = *out.mutable_host_bandwidth();
  host.set_board(t.host_bandwidth().board);
  host.set_pix(t.host_bandwidth().pix);
  host.set_pxb(t.host_bandwidth().pxb);
  host.set_phb(t.host_bandwidth().phb);
  host.set_node(t.host_bandwidth().node);
  host.set_sys(t.host_bandwidth().sys);
  out.set_no_p2p(!t.p2p());
  out.mutable_rule()->set_kind(std::string(domain::to_string(t.rule().kind)));
  out.mutable_rule()->set_group_size(t.rule().group_size);
  if (t.super_pod()) {
    out.mutable_super_pod()->set_id(t.super_pod()->id);
    out.mutable_super_pod()->set_server_index(t.super_pod()->server_index);
  }
  return out;
}

Result<domain::NodeTopology> from_proto(const v1::NodeTopology& m) {
  Check check;
  check_sizes(m, check);
  if (check.error()) return Error(*check.error());
  domain::TopologyBuilder builder;
  builder.vendor = m.vendor();
  builder.model = m.model();
  builder.p2p = !m.no_p2p();
  if (m.has_host_bandwidth()) {
    const v1::HostBandwidth& h = m.host_bandwidth();
    builder.host_bandwidth =
        domain::HostBandwidth{h.board(), h.pix(), h.pxb(), h.phb(), h.node(), h.sys()};
  }
  if (m.has_rule()) {
    const auto kind = domain::parse_rule_kind(m.rule().kind());
    if (!kind) check.wrong("rule.kind", -1, "\"" + m.rule().kind() + "\" is not a known rule");
    builder.rule =
        domain::PlacementRule{kind.value_or(domain::RuleKind::any), m.rule().group_size()};
  }
  if (m.has_super_pod()) {
    builder.super_pod = domain::SuperPod{m.super_pod().id(), m.super_pod().server_index()};
  }
  add_chips(m, builder, check);
  add_pairs(m, builder, check);
  add_around(m, builder, check);
  if (check.error()) return Error(*check.error());
  return std::move(builder).build();
}

}  // namespace chipweave::rpc
