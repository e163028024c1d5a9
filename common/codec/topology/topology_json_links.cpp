// Links, meshes, host paths, switches, NICs and partitions of a topology JSON.
#include <algorithm>
#include <climits>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/topology_json_reader.hpp"
#include "common/domain/link_rates.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::TopologyBuilder;

// Fast link and host path of all pairs of 64 chips, said from both sides, and some to spare.
constexpr std::size_t kMaxLinks = 16384;
constexpr std::size_t kMaxMeshes = 256;
constexpr std::size_t kMaxHostGroups = 64;

const std::vector<std::string_view> kHostKinds = {"BOARD", "PIX", "PXB", "PHB", "NODE", "SYS"};
const std::vector<std::string_view> kFastLinkKinds = {"NVLINK", "XGMI", "HCCS",
                                                      "SIO",    "UB",   "METAXLINK"};
const std::vector<std::string_view> kSwitchKinds = {"NVSWITCH", "NVLINK", "XGMI",     "HCCS",
                                                    "SIO",      "UB",     "METAXLINK"};

}  // namespace

double TopologyReader::default_rate(LinkKind kind) {
  const auto [it, fresh] = default_rates_.try_emplace(kind, 0);
  if (fresh) it->second = domain::default_gbps_per_lane(kind, builder_.model);
  return it->second;
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
  for (std::size_t i = 0; i < list->size(); ++i) read_link((*list)[i], json_item("links", i));
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
  add_fast(pair, {*kind, lanes, down, rate.value_or(default_rate(*kind)), path});
}

void TopologyReader::read_meshes(const JsonObject& top) {
  const Json* list = top.array("meshes", kMaxMeshes);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = json_item("meshes", i);
    const JsonObject o((*list)[i], path, {"chips", "kind", "lanes", "gbps_per_lane"}, problems_);
    const auto kind = kind_of(o, kFastLinkKinds);
    const auto rate = rate_of(o, "gbps_per_lane");
    const int lanes = lanes_of(o, "lanes", 1, 1);
    const Json* value = o.find("chips");
    if (value == nullptr) problems_.add(o.path("chips"), "missing");
    if (value == nullptr || !kind) continue;
    const std::vector<int> chips = chip_list(*value, o.path("chips"));
    const double gbps = rate.value_or(default_rate(*kind));
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
    const JsonObject o((*list)[i], json_item("host_groups", i), {"kind", "groups"}, problems_);
    const auto kind = kind_of(o, kHostKinds);
    if (!o.has("groups")) problems_.add(o.path("groups"), "missing");
    const Json* groups = o.array("groups", static_cast<std::size_t>(limits::kMaxChips));
    if (groups == nullptr || !kind) continue;
    for (std::size_t g = 0; g < groups->size(); ++g) {
      const std::vector<int> chips = chip_list((*groups)[g], json_item(o.path("groups"), g));
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
  for (std::size_t i = 0; i < list->size(); ++i) read_switch((*list)[i], json_item("switches", i));
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
    const JsonObject p((*list)[i], json_item(o.path("ports"), i), {"chip", "lanes", "lanes_down"},
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
  for (std::size_t i = 0; i < list->size(); ++i) read_nic((*list)[i], json_item("nics", i));
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
      const std::string at = where + "." + quoted_excerpt(key);
      const bool digits =
          !key.empty() && key.size() <= 9 &&
          std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
      const int chip = digits ? std::stoi(key) : -1;
      if (chips_.count(chip) == 0 || std::to_string(chip) != key) {
        problems_.add(at, "the machine has no such chip");
      } else if (!it->is_string()) {
        problems_.add(at, "must be a text" + expected_one_of(kHostKinds));
      } else if (const auto kind = parse_kind(it->get<std::string>(), at, kHostKinds)) {
        paths[ChipIndex{chip}] = *kind;
      }
    }
  }
  builder_.add_nic(name, lower_case_ascii(o.text("pci").value_or("")),
                   static_cast<int>(o.integer("numa", -1, limits::kMaxNumaNode).value_or(-1)),
                   gbps.value_or(0), std::move(paths));
}

void TopologyReader::read_partitions(const JsonObject& top) {
  const Json* list = top.array("partitions", limits::kMaxPartitions);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::vector<ChipIndex> chips;
    for (const int c : chip_list((*list)[i], json_item("partitions", i)))
      chips.push_back(ChipIndex{c});
    builder_.add_partition(std::move(chips));
  }
}

}  // namespace chipweave::codec
