#include "common/codec/topology/topology_json.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/near_names.hpp"
#include "common/codec/topology/json_reader.hpp"
#include "common/codec/topology/text_quote.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::TopologyBuilder;

constexpr std::size_t kMaxLinks =
    16384;  // both directions of fast link and host path of all pairs of 64 chips
constexpr std::size_t kMaxMeshes = 256;
constexpr std::size_t kMaxHostGroups = 64;

const std::vector<std::string_view> kHostKinds = {"BOARD", "PIX", "PXB", "PHB", "NODE", "SYS"};
const std::vector<std::string_view> kFastLinkKinds = {"NVLINK", "XGMI", "HCCS",
                                                      "SIO",    "UB",   "METAXLINK"};
const std::vector<std::string_view> kSwitchKinds = {"NVSWITCH", "NVLINK", "XGMI",     "HCCS",
                                                    "SIO",      "UB",     "METAXLINK"};
const std::vector<std::string_view> kRuleKinds = {"any",
                                                  "ascend-910a-module",
                                                  "ascend-910a-half",
                                                  "ascend-910b-16",
                                                  "ascend-a3",
                                                  "ascend-310-card",
                                                  "ascend-310-chip",
                                                  "ascend-310p-card",
                                                  "ascend-310p-chip",
                                                  "ascend-a5-mesh4"};
const std::vector<std::string_view> kHealths = {"healthy", "network_unhealthy", "unhealthy"};

std::string one_of(const std::vector<std::string_view>& names) {
  std::string out = ", expected one of ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ", ";
    out += names[i];
  }
  return out;
}

std::string item(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

int group_size_of(domain::RuleKind kind) {
  switch (kind) {
    case domain::RuleKind::any:
      return 1;
    case domain::RuleKind::ascend_910b_16:
      return 8;
    case domain::RuleKind::ascend_a3:
    case domain::RuleKind::ascend_310p_card:
    case domain::RuleKind::ascend_310p_chip:
      return 2;
    case domain::RuleKind::ascend_910a_module:
    case domain::RuleKind::ascend_910a_half:
    case domain::RuleKind::ascend_310_card:
    case domain::RuleKind::ascend_310_chip:
    case domain::RuleKind::ascend_a5_mesh4:
      return 4;
  }
  return 1;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// One document → one builder. Every read_* takes one top-level key.
class TopologyReader {
 public:
  explicit TopologyReader(const ImportOptions& options) : options_(options) {}

  Result<domain::NodeTopology> read(const Json& document) {
    const JsonObject top(
        document, "",
        {"vendor", "model", "name", "source", "p2p", "host_gbps", "rule", "chips", "links",
         "switches", "nics", "partitions", "super_pod", "meshes", "host_groups"},
        problems_);
    if (!document.is_object()) return problems_.error();
    builder_.vendor = top.text("vendor").value_or("");
    builder_.model = top.text("model").value_or("");
    if (!options_.model.empty()) builder_.model = options_.model;
    top.text("name");  // for people; its type is checked all the same
    builder_.p2p = top.flag("p2p").value_or(true);
    read_host_gbps(top);
    read_rule(top);
    read_super_pod(top);
    read_chips(top);
    if (!problems_.any()) {
      read_links(top);
      read_meshes(top);
      read_host_groups(top);
      read_switches(top);
      read_nics(top);
      read_partitions(top);
    }
    if (problems_.any()) return problems_.error();
    return std::move(builder_).build();
  }

 private:
  struct FastFact {
    LinkKind kind;
    int lanes;
    int lanes_down;
    double gbps;
    std::string where;
  };
  using Pair = std::pair<int, int>;

  void read_host_gbps(const JsonObject& top);
  void read_rule(const JsonObject& top);
  void read_super_pod(const JsonObject& top);
  void read_chips(const JsonObject& top);
  void read_chip(const Json& value, const std::string& path);
  void read_links(const JsonObject& top);
  void read_link(const Json& value, const std::string& path);
  void read_meshes(const JsonObject& top);
  void read_host_groups(const JsonObject& top);
  void read_switches(const JsonObject& top);
  void read_switch(const Json& value, const std::string& path);
  std::vector<TopologyBuilder::Port> read_ports(const JsonObject& o);
  void read_nics(const JsonObject& top);
  void read_nic(const Json& value, const std::string& path);
  void read_partitions(const JsonObject& top);

  std::optional<LinkKind> kind_of(const JsonObject& o,
                                  const std::vector<std::string_view>& allowed);
  std::optional<LinkKind> parse_kind(const std::string& text, const std::string& path,
                                     const std::vector<std::string_view>& allowed);
  std::optional<int> known_chip(const Json& value, const std::string& path);
  // Distinct known chips; empty after a problem.
  std::vector<int> chip_list(const Json& value, const std::string& path);
  int lanes_of(const JsonObject& o, std::string_view key, int fallback, int min = 0) {
    return static_cast<int>(o.integer(key, min, limits::kMaxLanes).value_or(fallback));
  }
  std::optional<double> rate_of(const JsonObject& o, std::string_view key);
  void add_fast(Pair pair, FastFact fact);

  const ImportOptions& options_;
  JsonProblems problems_;
  TopologyBuilder builder_;
  std::set<int> chips_;
  std::map<Pair, FastFact> fast_;
  std::map<Pair, std::pair<LinkKind, std::string>> host_;  // said in links[]: kind, where
};

std::optional<LinkKind> TopologyReader::parse_kind(const std::string& text, const std::string& path,
                                                   const std::vector<std::string_view>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) {
    return domain::parse_link_kind(text);
  }
  if (text == "NVSWITCH") {
    problems_.add(path, "NVSWITCH joins chips to a switch: describe it under \"switches\"");
  } else if (text == "SELF") {
    problems_.add(path, "SELF is the path of a chip to itself" + one_of(allowed));
  } else {
    problems_.add(
        path, "unknown kind " + quote_text(text) + did_you_mean(text, allowed) + one_of(allowed));
  }
  return std::nullopt;
}

std::optional<LinkKind> TopologyReader::kind_of(const JsonObject& o,
                                                const std::vector<std::string_view>& allowed) {
  const auto text = o.require_text("kind");
  return text ? parse_kind(*text, o.path("kind"), allowed) : std::nullopt;
}

std::optional<int> TopologyReader::known_chip(const Json& value, const std::string& path) {
  const auto index = as_integer(value, path, 0, INT_MAX, problems_);
  if (!index) return std::nullopt;
  const int chip = static_cast<int>(*index);
  if (chips_.count(chip) == 0) {
    problems_.add(path, "the machine has no chip " + std::to_string(chip));
    return std::nullopt;
  }
  return chip;
}

std::vector<int> TopologyReader::chip_list(const Json& value, const std::string& path) {
  std::vector<int> out;
  if (!value.is_array() || value.empty() || value.size() > chips_.size()) {
    problems_.add(path,
                  "must be a list of 1 to " + std::to_string(chips_.size()) + " chip indices");
    return out;
  }
  bool good = true;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto chip = known_chip(value[i], item(path, i));
    good = good && chip.has_value();
    if (!chip) continue;
    if (std::find(out.begin(), out.end(), *chip) != out.end()) {
      problems_.add(item(path, i), "chip " + std::to_string(*chip) + " is named twice");
      good = false;
    }
    out.push_back(*chip);
  }
  return good ? out : std::vector<int>{};
}

std::optional<double> TopologyReader::rate_of(const JsonObject& o, std::string_view key) {
  const auto rate = o.number(key);
  if (rate && !(*rate > 0 && *rate <= limits::kMaxGbps)) {
    problems_.add(o.path(key), "must be above 0 and at most 100000 (GB/s)");
    return std::nullopt;
  }
  return rate;
}

void TopologyReader::read_host_gbps(const JsonObject& top) {
  const Json* value = top.find("host_gbps");
  if (value == nullptr) return;
  const JsonObject o(*value, "host_gbps", {"BOARD", "PIX", "PXB", "PHB", "NODE", "SYS"}, problems_);
  domain::HostBandwidth host = domain::default_host_bandwidth(builder_.model);
  host.board = rate_of(o, "BOARD").value_or(host.board);
  host.pix = rate_of(o, "PIX").value_or(host.pix);
  host.pxb = rate_of(o, "PXB").value_or(host.pxb);
  host.phb = rate_of(o, "PHB").value_or(host.phb);
  host.node = rate_of(o, "NODE").value_or(host.node);
  host.sys = rate_of(o, "SYS").value_or(host.sys);
  builder_.host_bandwidth = host;
}

void TopologyReader::read_rule(const JsonObject& top) {
  const Json* value = top.find("rule");
  if (value == nullptr) return;
  const JsonObject o(*value, "rule", {"kind", "group"}, problems_);
  const auto name = o.require_text("kind");
  const auto group = o.integer("group", 1, limits::kMaxChips);
  if (!name) return;
  const auto kind = domain::parse_rule_kind(*name);
  if (!kind) {
    problems_.add("rule.kind", "unknown rule " + quote_text(*name) +
                                   did_you_mean(*name, kRuleKinds) + one_of(kRuleKinds));
    return;
  }
  builder_.rule =
      domain::PlacementRule{*kind, static_cast<int>(group.value_or(group_size_of(*kind)))};
}

void TopologyReader::read_super_pod(const JsonObject& top) {
  const Json* value = top.find("super_pod");
  if (value == nullptr) return;
  const JsonObject o(*value, "super_pod", {"id", "server_index"}, problems_);
  domain::SuperPod pod;
  if (const Json* id = o.find("id"); id != nullptr && id->is_number_integer()) {
    pod.id = id->dump();
  } else {
    pod.id = o.require_text("id").value_or("");
  }
  pod.server_index = static_cast<int>(o.integer("server_index", 0, INT_MAX).value_or(-1));
  builder_.super_pod = std::move(pod);
}

void TopologyReader::read_chips(const JsonObject& top) {
  const Json* value = top.find("chips");
  if (value == nullptr) {
    problems_.add("chips", "missing: a list of chips, or their number");
    return;
  }
  if (value->is_number()) {
    const auto count = as_integer(*value, "chips", 1, limits::kMaxChips, problems_);
    for (int i = 0; i < count.value_or(0); ++i) {
      domain::Chip chip;
      chip.index = ChipIndex{i};
      chips_.insert(i);
      builder_.add_chip(std::move(chip));
    }
    return;
  }
  const Json* list = top.array("chips", static_cast<std::size_t>(limits::kMaxChips));
  if (list == nullptr) return;
  if (list->empty()) problems_.add("chips", "a machine has at least one chip");
  for (std::size_t i = 0; i < list->size(); ++i) read_chip((*list)[i], item("chips", i));
}

void TopologyReader::read_chip(const Json& value, const std::string& path) {
  const JsonObject o(value, path,
                     {"index", "id", "uuid", "model", "pci", "numa", "memory_bytes", "device_ips",
                      "physical_id", "logical_id", "super_device_id", "health"},
                     problems_);
  domain::Chip chip;
  const auto index = o.require_integer("index", 0, INT_MAX);
  if (index) {
    chip.index = ChipIndex{static_cast<int>(*index)};
    if (!chips_.insert(chip.index.value).second) {
      problems_.add(o.path("index"), "two chips have index " + std::to_string(*index));
    }
  }
  if (o.has("id") && o.has("uuid"))
    problems_.add(path, "\"id\" and \"uuid\" are the same: give one");
  chip.id = o.text(o.has("uuid") ? "uuid" : "id").value_or("");
  chip.model = o.text("model").value_or("");
  chip.pci = lower_case(o.text("pci").value_or(""));
  chip.numa = static_cast<int>(o.integer("numa", -1, 65535).value_or(-1));
  chip.memory_bytes =
      static_cast<std::uint64_t>(o.integer("memory_bytes", 0, INT64_MAX).value_or(0));
  if (const Json* ips = o.array("device_ips", 64)) {
    for (std::size_t i = 0; i < ips->size(); ++i) {
      if ((*ips)[i].is_string()) {
        chip.device_ips.push_back((*ips)[i].get<std::string>());
      } else {
        problems_.add(item(o.path("device_ips"), i), "must be a text");
      }
    }
  }
  const auto id_of = [&o](std::string_view key) -> std::optional<int> {
    const auto v = o.integer(key, 0, INT_MAX);
    return v ? std::optional<int>(static_cast<int>(*v)) : std::nullopt;
  };
  chip.physical_id = id_of("physical_id");
  chip.logical_id = id_of("logical_id");
  if (const auto v = o.integer("super_device_id", 0, UINT32_MAX)) {
    chip.super_device_id = static_cast<std::uint32_t>(*v);
  }
  if (const auto health = o.text("health")) {
    const auto it = std::find(kHealths.begin(), kHealths.end(), *health);
    if (it == kHealths.end()) {
      problems_.add(o.path("health"), "unknown health " + quote_text(*health) + one_of(kHealths));
    } else {
      chip.health = static_cast<domain::Health>(it - kHealths.begin());
    }
  }
  builder_.add_chip(std::move(chip));
}

void TopologyReader::add_fast(Pair pair, FastFact fact) {
  const auto [it, fresh] = fast_.try_emplace(pair, fact);
  const FastFact& old = it->second;
  if (!fresh && (old.kind != fact.kind || old.lanes != fact.lanes ||
                 old.lanes_down != fact.lanes_down || old.gbps != fact.gbps)) {
    problems_.add(fact.where, "pair " + std::to_string(pair.first) + "-" +
                                  std::to_string(pair.second) + " contradicts " + old.where + " (" +
                                  std::string(to_string(old.kind)) + " x" +
                                  std::to_string(old.lanes) + ")");
  }
  if (!fresh) return;
  builder_.add_link(ChipIndex{pair.first}, ChipIndex{pair.second}, fact.kind, fact.lanes, fact.gbps,
                    fact.lanes_down);
}

void TopologyReader::read_links(const JsonObject& top) {
  const Json* list = top.array("links", kMaxLinks);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) read_link((*list)[i], item("links", i));
}

void TopologyReader::read_link(const Json& value, const std::string& path) {
  const JsonObject o(value, path, {"a", "b", "kind", "lanes", "gbps_per_lane", "lanes_down"},
                     problems_);
  if (!value.is_object()) return;
  std::optional<int> ends[2];
  const std::string_view names[2] = {"a", "b"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Json* v = o.find(names[i]);
    if (v == nullptr) problems_.add(o.path(names[i]), "missing");
    if (v != nullptr) ends[i] = known_chip(*v, o.path(names[i]));
  }
  std::vector<std::string_view> kinds = kFastLinkKinds;
  kinds.insert(kinds.end(), kHostKinds.begin(), kHostKinds.end());
  const auto kind = kind_of(o, kinds);
  const auto rate = rate_of(o, "gbps_per_lane");
  const int lanes = lanes_of(o, "lanes", 1, 1);
  const int down = lanes_of(o, "lanes_down", 0);
  if (!ends[0] || !ends[1] || !kind) return;
  if (*ends[0] == *ends[1]) {
    problems_.add(path, "links chip " + std::to_string(*ends[0]) + " with itself");
    return;
  }
  const Pair pair = std::minmax(*ends[0], *ends[1]);
  if (is_host_path(*kind)) {
    if (o.has("gbps_per_lane") || lanes != 1 || down != 0) {
      problems_.add(path, "a host path has no lanes or rate of its own: use \"host_gbps\"");
    }
    const auto [it, fresh] = host_.try_emplace(pair, *kind, path);
    if (!fresh && it->second.first != *kind) {
      problems_.add(path, "pair " + std::to_string(pair.first) + "-" + std::to_string(pair.second) +
                              " contradicts " + it->second.second + " (" +
                              std::string(to_string(it->second.first)) + ")");
    }
    if (fresh) builder_.add_link(ChipIndex{pair.first}, ChipIndex{pair.second}, *kind);
    return;
  }
  if (down > lanes) problems_.add(o.path("lanes_down"), "more than the link's lanes");
  add_fast(pair, {*kind, lanes, down,
                  rate.value_or(domain::default_gbps_per_lane(*kind, builder_.model)), path});
}

void TopologyReader::read_meshes(const JsonObject& top) {
  const Json* list = top.array("meshes", kMaxMeshes);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = item("meshes", i);
    const JsonObject o((*list)[i], path, {"chips", "kind", "lanes", "gbps_per_lane"}, problems_);
    const auto kind = kind_of(o, kFastLinkKinds);
    const auto rate = rate_of(o, "gbps_per_lane");
    const int lanes = lanes_of(o, "lanes", 1, 1);
    const Json* value = o.find("chips");
    if (value == nullptr) problems_.add(o.path("chips"), "missing");
    if (value == nullptr || !kind) continue;
    const std::vector<int> chips = chip_list(*value, o.path("chips"));
    const double gbps = rate.value_or(domain::default_gbps_per_lane(*kind, builder_.model));
    for (std::size_t a = 0; a < chips.size(); ++a) {
      for (std::size_t b = a + 1; b < chips.size(); ++b) {
        add_fast(std::minmax(chips[a], chips[b]), {*kind, lanes, 0, gbps, path});
      }
    }
  }
}

void TopologyReader::read_host_groups(const JsonObject& top) {
  const Json* list = top.array("host_groups", kMaxHostGroups);
  if (list == nullptr) return;
  std::set<Pair> said;
  for (const auto& [pair, fact] : host_) said.insert(pair);
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonObject o((*list)[i], item("host_groups", i), {"kind", "groups"}, problems_);
    const auto kind = kind_of(o, kHostKinds);
    if (!o.has("groups")) problems_.add(o.path("groups"), "missing");
    const Json* groups = o.array("groups", static_cast<std::size_t>(limits::kMaxChips));
    if (groups == nullptr || !kind) continue;
    for (std::size_t g = 0; g < groups->size(); ++g) {
      const std::vector<int> chips = chip_list((*groups)[g], item(o.path("groups"), g));
      for (std::size_t a = 0; a < chips.size(); ++a) {
        for (std::size_t b = a + 1; b < chips.size(); ++b) {
          if (!said.insert(std::minmax(chips[a], chips[b])).second) continue;
          builder_.add_link(ChipIndex{chips[a]}, ChipIndex{chips[b]}, *kind);
        }
      }
    }
  }
}

void TopologyReader::read_switches(const JsonObject& top) {
  const Json* list = top.array("switches", limits::kMaxSwitches);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) read_switch((*list)[i], item("switches", i));
}

std::vector<TopologyBuilder::Port> TopologyReader::read_ports(const JsonObject& o) {
  std::vector<TopologyBuilder::Port> ports;
  if (!o.has("ports")) {
    const int lanes = lanes_of(o, "lanes_per_chip", 1, 1);
    const Json* chips = o.find("chips");
    if (chips == nullptr) {
      problems_.add(o.path("chips"), "missing: the chips on this switch (or \"ports\")");
      return ports;
    }
    for (const int c : chip_list(*chips, o.path("chips")))
      ports.push_back({ChipIndex{c}, lanes, 0});
    return ports;
  }
  for (const std::string_view key : {"chips", "lanes_per_chip"}) {
    if (o.has(key))
      problems_.add(o.path(key), "give either \"chips\" with \"lanes_per_chip\" or \"ports\"");
  }
  const Json* list = o.array("ports", static_cast<std::size_t>(limits::kMaxChips));
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject p((*list)[i], item(o.path("ports"), i), {"chip", "lanes", "lanes_down"},
                       problems_);
    const int lanes = lanes_of(p, "lanes", 1, 1);
    const int down = lanes_of(p, "lanes_down", 0);
    if (down > lanes) problems_.add(p.path("lanes_down"), "more than the port's lanes");
    const Json* chip = p.find("chip");
    if (chip == nullptr) problems_.add(p.path("chip"), "missing");
    if (chip == nullptr) continue;
    if (const auto c = known_chip(*chip, p.path("chip")))
      ports.push_back({ChipIndex{*c}, lanes, down});
  }
  return ports;
}

void TopologyReader::read_switch(const Json& value, const std::string& path) {
  const JsonObject o(value, path,
                     {"name", "kind", "chips", "lanes_per_chip", "gbps_per_lane", "ports"},
                     problems_);
  if (!value.is_object()) return;
  const auto kind = kind_of(o, kSwitchKinds);
  const auto rate = rate_of(o, "gbps_per_lane");
  std::vector<TopologyBuilder::Port> ports = read_ports(o);
  if (kind) builder_.add_switch(o.text("name").value_or(""), *kind, std::move(ports), rate);
}

void TopologyReader::read_nics(const JsonObject& top) {
  const Json* list = top.array("nics", limits::kMaxNics);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) read_nic((*list)[i], item("nics", i));
}

void TopologyReader::read_nic(const Json& value, const std::string& path) {
  const JsonObject o(value, path, {"name", "pci", "numa", "gbps", "paths"}, problems_);
  if (!value.is_object()) return;
  const std::string name = o.require_text("name").value_or("");
  const auto gbps = o.number("gbps");
  if (gbps && !(*gbps >= 0 && *gbps <= limits::kMaxGbps)) {
    problems_.add(o.path("gbps"), "must be 0 (unknown) to 100000 (GB/s)");
  }
  std::map<ChipIndex, LinkKind> paths;
  if (const Json* list = o.find("paths")) {
    const std::string where = o.path("paths");
    if (!list->is_object()) problems_.add(where, "must be an object: chip index → host path");
    for (auto it = list->begin(); list->is_object() && it != list->end(); ++it) {
      const std::string& key = it.key();
      const std::string at = where + "." + quote_text(key);
      const bool digits =
          !key.empty() && key.size() <= 9 &&
          std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
      const int chip = digits ? std::stoi(key) : -1;
      if (chips_.count(chip) == 0 || std::to_string(chip) != key) {
        problems_.add(at, "the machine has no such chip");
      } else if (!it->is_string()) {
        problems_.add(at, "must be a text" + one_of(kHostKinds));
      } else if (const auto kind = parse_kind(it->get<std::string>(), at, kHostKinds)) {
        paths[ChipIndex{chip}] = *kind;
      }
    }
  }
  builder_.add_nic(name, lower_case(o.text("pci").value_or("")),
                   static_cast<int>(o.integer("numa", -1, 65535).value_or(-1)), gbps.value_or(0),
                   std::move(paths));
}

void TopologyReader::read_partitions(const JsonObject& top) {
  const Json* list = top.array("partitions", limits::kMaxPartitions);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::vector<ChipIndex> chips;
    for (const int c : chip_list((*list)[i], item("partitions", i))) chips.push_back(ChipIndex{c});
    builder_.add_partition(std::move(chips));
  }
}

}  // namespace

Result<domain::NodeTopology> topology_from_json_text(std::string_view json,
                                                     const ImportOptions& options) {
  Result<Json> document = parse_strict_json(json);
  if (!document) return std::move(document).error();
  return TopologyReader(options).read(*document);
}

bool looks_like_topology_json(std::string_view content) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.substr(0, kBom.size()) == kBom) content.remove_prefix(kBom.size());
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && content[start] == '{';
}

Result<ImportedTopology> import_topology_json(std::string_view content,
                                              const ImportOptions& options) {
  Result<domain::NodeTopology> topology = topology_from_json_text(content, options);
  if (!topology) return std::move(topology).error();
  return ImportedTopology{std::move(topology).value(), "chipweave-json", {}};
}

}  // namespace chipweave::codec
