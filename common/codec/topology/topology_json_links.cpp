// Links, meshes, host paths, switches, NICs and partitions of a topology JSON.
#include <algorithm>
#include <climits>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/topology/topology_json_reader.hpp"
#include "common/domain/link_rates.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::TopologyBuilder;

// Fast link and host path of all pairs of 64 chips, listed from both sides, plus a reserve.
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

std::string TopologyReader::contradiction(Pair pair, JsonValue other,
                                          const std::string& fact) const {
  return "pair " + std::to_string(pair.first) + "-" + std::to_string(pair.second) +
         " contradicts " + other.path(document_) + " (" + fact + ")";
}

void TopologyReader::add_fast(Pair pair, FastFact fact) {
  const auto [it, fresh] = fast_.try_emplace(pair, fact);
  const FastFact& old = it->second;
  if (fresh) {
    builder_.add_link(ChipIndex{pair.first}, ChipIndex{pair.second}, fact.kind, fact.lanes,
                      fact.gbps, fact.lanes_down);
  } else if (old.kind != fact.kind || old.lanes != fact.lanes ||
             old.lanes_down != fact.lanes_down || old.gbps != fact.gbps) {
    problems_.add(fact.where, contradiction(pair, old.where,
                                            std::string(to_string(old.kind)) + " x" +
                                                std::to_string(old.lanes)));
  }
}

void TopologyReader::read_links(const JsonObject& top) {
  for (const JsonValue link : top.array("links", kMaxLinks)) read_link(link);
}

void TopologyReader::read_link(JsonValue value) {
  const JsonObject o(value, {"a", "b", "kind", "lanes", "gbps_per_lane", "lanes_down"}, problems_);
  if (!o) return;
  const auto end_of = [&](std::string_view key) {
    const JsonValue end = o.require(key);
    return end ? known_chip(end) : std::nullopt;
  };
  const std::optional<int> a = end_of("a");
  const std::optional<int> b = end_of("b");
  std::vector<std::string_view> kinds = kFastLinkKinds;
  kinds.insert(kinds.end(), kHostKinds.begin(), kHostKinds.end());
  const auto kind = kind_of(o, kinds);
  const auto rate = rate_of(o, "gbps_per_lane");
  const int lanes = lanes_of(o, "lanes", 1, 1);
  const int down = lanes_of(o, "lanes_down", 0);
  if (!a || !b || !kind) return;
  if (*a == *b) return problems_.add(value, "links chip " + std::to_string(*a) + " with itself");
  const Pair pair = std::minmax(*a, *b);
  if (is_host_path(*kind)) {
    if (o.has("gbps_per_lane") || lanes != 1 || down != 0) {
      problems_.add(value, "a host path has no lanes or rate of its own: use \"host_gbps\"");
    }
    const auto [it, fresh] = host_.try_emplace(pair, *kind, value);
    if (!fresh && it->second.first != *kind) {
      problems_.add(
          value, contradiction(pair, it->second.second, std::string(to_string(it->second.first))));
    }
    if (fresh) builder_.add_link(ChipIndex{pair.first}, ChipIndex{pair.second}, *kind);
    return;
  }
  if (down > lanes) o.problem("lanes_down", "more than the link's lanes");
  add_fast(pair, {*kind, lanes, down, rate.value_or(default_rate(*kind)), value});
}

void TopologyReader::read_meshes(const JsonObject& top) {
  for (const JsonValue mesh : top.array("meshes", kMaxMeshes)) {
    const JsonObject o(mesh, {"chips", "kind", "lanes", "gbps_per_lane"}, problems_);
    const auto kind = kind_of(o, kFastLinkKinds);
    const auto rate = rate_of(o, "gbps_per_lane");
    const int lanes = lanes_of(o, "lanes", 1, 1);
    const JsonValue list = o.require("chips");
    if (!list || !kind) continue;
    const std::vector<int> chips = chip_list(list);
    const double gbps = rate.value_or(default_rate(*kind));
    for (std::size_t a = 0; a < chips.size(); ++a) {
      for (std::size_t b = a + 1; b < chips.size(); ++b) {
        add_fast(std::minmax(chips[a], chips[b]), {*kind, lanes, 0, gbps, mesh});
      }
    }
  }
}

void TopologyReader::read_host_groups(const JsonObject& top) {
  std::set<Pair> known;
  for (const auto& [pair, fact] : host_) known.insert(pair);
  for (const JsonValue entry : top.array("host_groups", kMaxHostGroups)) {
    const JsonObject o(entry, {"kind", "groups"}, problems_);
    const auto kind = kind_of(o, kHostKinds);
    o.require("groups");
    const JsonValue groups = o.array("groups", static_cast<std::size_t>(limits::kMaxChips));
    if (!kind) continue;
    for (const JsonValue group : groups) {
      const std::vector<int> chips = chip_list(group);
      for (std::size_t a = 0; a < chips.size(); ++a) {
        for (std::size_t b = a + 1; b < chips.size(); ++b) {
          if (!known.insert(std::minmax(chips[a], chips[b])).second) continue;
          builder_.add_link(ChipIndex{chips[a]}, ChipIndex{chips[b]}, *kind);
        }
      }
    }
  }
}

void TopologyReader::read_switches(const JsonObject& top) {
  for (const JsonValue one : top.array("switches", limits::kMaxSwitches)) read_switch(one);
}

std::vector<TopologyBuilder::Port> TopologyReader::read_ports(const JsonObject& o) {
  std::vector<TopologyBuilder::Port> ports;
  if (!o.has("ports")) {
    const int lanes = lanes_of(o, "lanes_per_chip", 1, 1);
    if (!o.has("chips")) {
      o.problem("chips", "is missing: the chips on this switch (or \"ports\")");
      return ports;
    }
    for (const int c : chip_list(o.find("chips"))) ports.push_back({ChipIndex{c}, lanes, 0});
    return ports;
  }
  for (const std::string_view key : {"chips", "lanes_per_chip"}) {
    if (o.has(key)) {
      o.problem(key, "give either \"chips\" with \"lanes_per_chip\" or \"ports\"");
    }
  }
  for (const JsonValue port : o.array("ports", static_cast<std::size_t>(limits::kMaxChips))) {
    const JsonObject p(port, {"chip", "lanes", "lanes_down"}, problems_);
    const int lanes = lanes_of(p, "lanes", 1, 1);
    const int down = lanes_of(p, "lanes_down", 0);
    if (down > lanes) p.problem("lanes_down", "more than the port's lanes");
    const JsonValue chip = p.require("chip");
    if (!chip) continue;
    if (const auto c = known_chip(chip)) ports.push_back({ChipIndex{*c}, lanes, down});
  }
  return ports;
}

void TopologyReader::read_switch(JsonValue value) {
  const JsonObject o(value, {"name", "kind", "chips", "lanes_per_chip", "gbps_per_lane", "ports"},
                     problems_);
  if (!o) return;
  const auto kind = kind_of(o, kSwitchKinds);
  const auto rate = rate_of(o, "gbps_per_lane");
  std::vector<TopologyBuilder::Port> ports = read_ports(o);
  if (kind) builder_.add_switch(o.text_or_empty("name"), *kind, std::move(ports), rate);
}

void TopologyReader::read_nics(const JsonObject& top) {
  for (const JsonValue nic : top.array("nics", limits::kMaxNics)) read_nic(nic);
}

void TopologyReader::read_nic(JsonValue value) {
  const JsonObject o(value, {"name", "pci", "numa", "gbps", "paths"}, problems_);
  if (!o) return;
  const std::string name = o.require_text("name").value_or("");
  const auto gbps = o.number("gbps");
  if (gbps && !(*gbps >= 0 && *gbps <= limits::kMaxGbps)) {
    o.problem("gbps", "must be 0 (unknown) to 100000 (GB/s)");
  }
  std::map<ChipIndex, LinkKind> paths;
  for (const JsonValue path : o.map("paths", std::size_t{limits::kMaxChips} * 4)) {
    const auto chip = whole_number<int>(path.name(), limits::kMaxChipIndex);
    if (!chip || chips_.count(*chip) == 0) {
      problems_.add(path, "the machine has no such chip");
    } else if (!path.is_string()) {
      problems_.add(path, expected("a string", path));
    } else if (const auto kind = parse_kind(path, kHostKinds)) {
      paths[ChipIndex{*chip}] = *kind;
    }
  }
  builder_.add_nic(name, lower_case(o.text_or_empty("pci")),
                   o.integer("numa", -1, limits::kMaxNumaNode).value_or(-1), gbps.value_or(0),
                   std::move(paths));
}

void TopologyReader::read_partitions(const JsonObject& top) {
  for (const JsonValue partition : top.array("partitions", limits::kMaxPartitions)) {
    std::vector<ChipIndex> chips;
    for (const int c : chip_list(partition)) chips.push_back(ChipIndex{c});
    builder_.add_partition(std::move(chips));
  }
}

}  // namespace chipweave::codec
