// Canonical text of a topology: one entry per line, keys in a fixed order, defaults left out.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/rule_guess.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

// A list with one entry a line, each the JSON that text_of() returns. An empty list is left out.
template <class Items, class Write>
void write_list(JsonWriter& out, std::string_view key, const Items& items, Write text_of) {
  if (items.empty()) return;
  out.key(key).begin_array();
  for (const auto& item : items) out.raw(text_of(item));
  out.end_array();
}

int index_of(const NodeTopology& t, int slot) { return t.chip(slot).index.value; }

std::string chip_json(const domain::Chip& chip) {
  JsonWriter o;
  o.begin_object().field("index", chip.index.value);
  if (!chip.id.empty()) o.field("id", chip.id);
  if (!chip.model.empty()) o.field("model", chip.model);
  if (!chip.pci.empty()) o.field("pci", chip.pci);
  if (chip.numa >= 0) o.field("numa", chip.numa);
  if (chip.memory_bytes > 0) o.field("memory_bytes", chip.memory_bytes);
  if (!chip.device_ips.empty()) o.key("device_ips").strings(chip.device_ips);
  if (chip.physical_id) o.field("physical_id", *chip.physical_id);
  if (chip.logical_id) o.field("logical_id", *chip.logical_id);
  if (chip.super_device_id) o.field("super_device_id", *chip.super_device_id);
  if (chip.health == domain::Health::network_unhealthy) o.field("health", "network_unhealthy");
  if (chip.health == domain::Health::unhealthy) o.field("health", "unhealthy");
  return o.end_object().take();
}

JsonWriter begin_link(const NodeTopology& t, int a, int b, LinkKind kind) {
  JsonWriter o;
  o.begin_object().field("a", index_of(t, a)).field("b", index_of(t, b));
  o.field("kind", to_string(kind));
  return o;
}

std::vector<std::string> links_json(const NodeTopology& t) {
  std::vector<std::string> out;
  for (const domain::DirectLink& l : t.links()) {
    JsonWriter o = begin_link(t, l.a, l.b, l.kind);
    if (l.lanes != 1) o.field("lanes", l.lanes);
    o.key("gbps_per_lane").decimal(l.gbps_per_lane);
    if (l.lanes_down != 0) o.field("lanes_down", l.lanes_down);
    out.push_back(o.end_object().take());
  }
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      const LinkKind path = t.host_path(a, b);
      if (path != LinkKind::sys) out.push_back(begin_link(t, a, b, path).end_object().take());
    }
  }
  return out;
}

std::string switch_json(const NodeTopology& t, const domain::Switch& sw) {
  JsonWriter o;
  o.begin_object();
  if (!sw.name.empty()) o.field("name", sw.name);
  o.field("kind", to_string(sw.kind));
  const bool uniform = std::all_of(sw.ports.begin(), sw.ports.end(), [&sw](const auto& p) {
    return p.lanes == sw.ports.front().lanes && p.lanes_down == 0;
  });
  if (uniform) {
    o.key("chips").integers(t.indices(sw.members()));
    if (sw.ports.front().lanes != 1) o.field("lanes_per_chip", sw.ports.front().lanes);
  }
  o.key("gbps_per_lane").decimal(sw.gbps_per_lane);
  if (uniform) return o.end_object().take();
  o.key("ports").begin_array();
  for (const domain::SwitchPort& p : sw.ports) {
    o.begin_object().field("chip", index_of(t, p.slot));
    if (p.lanes != 1) o.field("lanes", p.lanes);
    if (p.lanes_down != 0) o.field("lanes_down", p.lanes_down);
    o.end_object();
  }
  return o.end_array().end_object().take();
}

std::string nic_json(const NodeTopology& t, const domain::Nic& nic) {
  JsonWriter o;
  o.begin_object().field("name", nic.name);
  if (!nic.pci.empty()) o.field("pci", nic.pci);
  if (nic.numa >= 0) o.field("numa", nic.numa);
  if (nic.gbps > 0) o.key("gbps").decimal(nic.gbps);
  const auto known = [](LinkKind path) { return path != LinkKind::sys; };
  if (std::none_of(nic.paths.begin(), nic.paths.end(), known)) return o.end_object().take();
  o.key("paths").begin_object();
  for (std::size_t s = 0; s < nic.paths.size(); ++s) {
    if (!known(nic.paths[s])) continue;
    o.field(std::to_string(index_of(t, static_cast<int>(s))), to_string(nic.paths[s]));
  }
  return o.end_object().end_object().take();
}

std::string host_json(const domain::HostBandwidth& host) {
  JsonWriter o;
  o.begin_object().key("BOARD").decimal(host.board).key("PIX").decimal(host.pix);
  o.key("PXB").decimal(host.pxb).key("PHB").decimal(host.phb);
  o.key("NODE").decimal(host.node).key("SYS").decimal(host.sys);
  return o.end_object().take();
}

std::string rule_json(const domain::PlacementRule& rule) {
  JsonWriter o;
  o.begin_object().field("kind", to_string(rule.kind)).field("group", rule.group_size);
  return o.end_object().take();
}

std::string super_pod_json(const domain::SuperPod& pod) {
  JsonWriter o;
  o.begin_object().field("id", pod.id);
  if (pod.server_index >= 0) o.field("server_index", pod.server_index);
  return o.end_object().take();
}

}  // namespace

std::string export_topology_json(const NodeTopology& t) {
  JsonWriter out(1);
  out.begin_object();
  if (!t.vendor().empty()) out.field("vendor", t.vendor());
  if (!t.model().empty()) out.field("model", t.model());
  if (!t.p2p()) out.key("p2p").boolean(false);
  const std::string host = host_json(t.host_bandwidth());
  if (host != host_json(domain::default_host_bandwidth(t.model()))) out.key("host_gbps").raw(host);
  if (t.rule() != domain::PlacementRule{} || domain::guess_rule(t).rule != t.rule()) {
    out.key("rule").raw(rule_json(t.rule()));
  }
  write_list(out, "chips", t.chips(), chip_json);
  write_list(out, "links", links_json(t), std::identity());
  write_list(out, "switches", t.switches(), [&](const auto& sw) { return switch_json(t, sw); });
  write_list(out, "nics", t.nics(), [&](const auto& nic) { return nic_json(t, nic); });
  write_list(out, "partitions", t.partitions(), [&](const domain::ChipSet set) {
    return JsonWriter().integers(t.indices(set)).take();
  });
  if (t.super_pod()) out.key("super_pod").raw(super_pod_json(*t.super_pod()));
  return out.end_object().take() + "\n";
}

}  // namespace chipweave::codec
