// Canonical text of a topology: one entry per line, keys in a fixed order, defaults left out.
// nlohmann/json writes the entries, so that numbers keep the form that they have in existing files.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/codec/topology/import.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/rule_guess.hpp"

namespace chipweave::codec {
namespace {

using Ordered = nlohmann::ordered_json;
using domain::LinkKind;
using domain::NodeTopology;

// Texts of foreign files may contain invalid UTF-8; such bytes are replaced.
std::string text_of(const Ordered& value) {
  return value.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

// Appends `"key": value`; lists have one entry per line.
class Writer {
 public:
  void value(const char* key, const Ordered& v) { begin(key) += text_of(v); }
  void list(const char* key, const std::vector<Ordered>& entries) {
    if (entries.empty()) return;
    std::string& out = begin(key) += '[';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      out += i == 0 ? "\n  " : ",\n  ";
      out += text_of(entries[i]);
    }
    out += "\n ]";
  }
  std::string finish() && { return out_ + "\n}\n"; }

 private:
  std::string& begin(const char* key) {
    out_ += out_.size() == 1 ? "\n " : ",\n ";
    return out_ += '"' + std::string(key) + "\": ";
  }
  std::string out_ = "{";
};

int index_of(const NodeTopology& t, int slot) { return t.chip(slot).index.value; }

Ordered chip_json(const domain::Chip& chip) {
  Ordered o;
  o["index"] = chip.index.value;
  if (!chip.id.empty()) o["id"] = chip.id;
  if (!chip.model.empty()) o["model"] = chip.model;
  if (!chip.pci.empty()) o["pci"] = chip.pci;
  if (chip.numa >= 0) o["numa"] = chip.numa;
  if (chip.memory_bytes > 0) o["memory_bytes"] = chip.memory_bytes;
  if (!chip.device_ips.empty()) o["device_ips"] = chip.device_ips;
  if (chip.physical_id) o["physical_id"] = *chip.physical_id;
  if (chip.logical_id) o["logical_id"] = *chip.logical_id;
  if (chip.super_device_id) o["super_device_id"] = *chip.super_device_id;
  if (chip.health == domain::Health::network_unhealthy) o["health"] = "network_unhealthy";
  if (chip.health == domain::Health::unhealthy) o["health"] = "unhealthy";
  return o;
}

std::vector<Ordered> links_json(const NodeTopology& t) {
  std::vector<Ordered> out;
  for (const domain::DirectLink& l : t.links()) {
    Ordered o{{"a", index_of(t, l.a)}, {"b", index_of(t, l.b)}, {"kind", to_string(l.kind)}};
    if (l.lanes != 1) o["lanes"] = l.lanes;
    o["gbps_per_lane"] = l.gbps_per_lane;
    if (l.lanes_down != 0) o["lanes_down"] = l.lanes_down;
    out.push_back(std::move(o));
  }
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      const LinkKind path = t.host_path(a, b);
      if (path == LinkKind::sys) continue;
      out.push_back(
          Ordered{{"a", index_of(t, a)}, {"b", index_of(t, b)}, {"kind", to_string(path)}});
    }
  }
  return out;
}

Ordered switch_json(const NodeTopology& t, const domain::Switch& sw) {
  Ordered o;
  if (!sw.name.empty()) o["name"] = sw.name;
  o["kind"] = to_string(sw.kind);
  const bool uniform = std::all_of(sw.ports.begin(), sw.ports.end(), [&sw](const auto& p) {
    return p.lanes == sw.ports.front().lanes && p.lanes_down == 0;
  });
  if (uniform) {
    o["chips"] = t.indices(sw.members());
    if (sw.ports.front().lanes != 1) o["lanes_per_chip"] = sw.ports.front().lanes;
  }
  o["gbps_per_lane"] = sw.gbps_per_lane;
  if (uniform) return o;
  o["ports"] = Ordered::array();
  for (const domain::SwitchPort& p : sw.ports) {
    Ordered port{{"chip", index_of(t, p.slot)}};
    if (p.lanes != 1) port["lanes"] = p.lanes;
    if (p.lanes_down != 0) port["lanes_down"] = p.lanes_down;
    o["ports"].push_back(std::move(port));
  }
  return o;
}

Ordered nic_json(const NodeTopology& t, const domain::Nic& nic) {
  Ordered o{{"name", nic.name}};
  if (!nic.pci.empty()) o["pci"] = nic.pci;
  if (nic.numa >= 0) o["numa"] = nic.numa;
  if (nic.gbps > 0) o["gbps"] = nic.gbps;
  Ordered paths;
  for (std::size_t s = 0; s < nic.paths.size(); ++s) {
    if (nic.paths[s] == LinkKind::sys) continue;
    paths[std::to_string(index_of(t, static_cast<int>(s)))] = to_string(nic.paths[s]);
  }
  if (!paths.empty()) o["paths"] = std::move(paths);
  return o;
}

Ordered host_json(const domain::HostBandwidth& host) {
  return Ordered{{"BOARD", host.board}, {"PIX", host.pix},   {"PXB", host.pxb},
                 {"PHB", host.phb},     {"NODE", host.node}, {"SYS", host.sys}};
}

}  // namespace

std::string export_topology_json(const NodeTopology& t) {
  Writer out;
  if (!t.vendor().empty()) out.value("vendor", t.vendor());
  if (!t.model().empty()) out.value("model", t.model());
  if (!t.p2p()) out.value("p2p", false);
  const Ordered host = host_json(t.host_bandwidth());
  if (host != host_json(domain::default_host_bandwidth(t.model()))) out.value("host_gbps", host);
  if (t.rule() != domain::PlacementRule{} || domain::guess_rule(t).rule != t.rule()) {
    out.value("rule", Ordered{{"kind", to_string(t.rule().kind)}, {"group", t.rule().group_size}});
  }
  std::vector<Ordered> chips;
  for (const domain::Chip& chip : t.chips()) chips.push_back(chip_json(chip));
  out.list("chips", chips);
  out.list("links", links_json(t));
  std::vector<Ordered> switches;
  for (const domain::Switch& sw : t.switches()) switches.push_back(switch_json(t, sw));
  out.list("switches", switches);
  std::vector<Ordered> nics;
  for (const domain::Nic& nic : t.nics()) nics.push_back(nic_json(t, nic));
  out.list("nics", nics);
  std::vector<Ordered> partitions;
  for (const domain::ChipSet set : t.partitions()) partitions.emplace_back(t.indices(set));
  out.list("partitions", partitions);
  if (t.super_pod()) {
    Ordered pod{{"id", t.super_pod()->id}};
    if (t.super_pod()->server_index >= 0) pod["server_index"] = t.super_pod()->server_index;
    out.value("super_pod", pod);
  }
  return std::move(out).finish();
}

}  // namespace chipweave::codec
