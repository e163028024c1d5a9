#include "tests/measured/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "common/codec/topology/import.hpp"
#include "common/io/files.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/collectives/all_reduce.hpp"

namespace chipweave::measured {
namespace {

using Json = nlohmann::json;
using domain::ChipIndex;
using domain::ChipSet;
using domain::NodeTopology;

// Start of a measurement's machine text → topology.
const std::map<std::string, std::string>& described() {
  static const std::string gen3 =
      R"("host_gbps":{"BOARD":10,"PIX":10,"PXB":10,"PHB":10,"NODE":10,"SYS":5})";
  static const std::string gen4 =
      R"("host_gbps":{"BOARD":24,"PIX":24,"PXB":24,"PHB":24,"NODE":24,"SYS":20})";
  static const std::string gen5 =
      R"("host_gbps":{"BOARD":48,"PIX":48,"PXB":48,"PHB":48,"NODE":48,"SYS":20})";
  static const std::string halves =
      R"("chips":[{"index":0,"numa":0},{"index":1,"numa":0},{"index":2,"numa":0},{"index":3,"numa":0},
    {"index":4,"numa":1},{"index":5,"numa":1},{"index":6,"numa":1},{"index":7,"numa":1}])";
  static const std::map<std::string, std::string> table = {
      {"pcie-4 (4x V100-PCIE",
       R"({"chips":4,)" + gen3 + R"(,"host_groups":[{"kind":"PXB","groups":[[0,1,2,3]]}]})"},
      {"pcie-8 (8x TITAN RTX",
       "{" + halves +
           R"(,"p2p":false,"host_gbps":{"BOARD":12,"PIX":12,"PXB":12,"PHB":12,"NODE":12,"SYS":10},
         "host_groups":[{"kind":"PIX","groups":[[0,1],[2,3],[4,5],[6,7]]},{"kind":"NODE","groups":[[0,1,2,3],[4,5,6,7]]}]})"},
      {"pcie-8 (4+4, NODE",
       "{" + halves + R"(,"p2p":false,)" + gen5 +
           R"(,"host_groups":[{"kind":"NODE","groups":[[0,1,2,3],[4,5,6,7]]}]})"},
      {"pcie-4 (Azure NC96ads", R"({"chips":4,"model":"A100",)" + gen4 +
                                    R"(,"meshes":[{"chips":[0,1],"kind":"NVLINK","lanes":12},
         {"chips":[2,3],"kind":"NVLINK","lanes":12}],"host_groups":[{"kind":"NODE","groups":[[0,1,2,3]]}]})"},
      {"pcie-6 (6x RTX 4090",
       R"({"chips":6,"p2p":false,)" + gen4 +
           R"(,"links":[{"a":0,"b":1,"kind":"PHB"},{"a":3,"b":4,"kind":"PHB"}]})"},
      {"H100 PCIe pair",
       R"({"chips":2,"model":"H100","meshes":[{"chips":[0,1],"kind":"NVLINK","lanes":12}]})"},
      {"gb200-4",
       R"({"chips":4,"model":"GB200","switches":[{"kind":"NVSWITCH","chips":[0,1,2,3],"lanes_per_chip":18}]})"},
      {"gb200-nvl72",
       R"({"chips":64,"model":"GB200","switches":[{"kind":"NVSWITCH","chips":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,
         19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63],"lanes_per_chip":18}]})"},
      {"MI350X x8",
       R"({"chips":8,"model":"MI350X","meshes":[{"chips":[0,1,2,3,4,5,6,7],"kind":"XGMI"}]})"},
      {"MI350-class",
       R"({"chips":8,"model":"MI350X","meshes":[{"chips":[0,1,2,3,4,5,6,7],"kind":"XGMI"}]})"},
      {"mi300a-4",
       R"({"chips":4,"model":"MI300A","meshes":[{"chips":[0,1,2,3],"kind":"XGMI","lanes":2}]})"},
      {"gh200-4",
       R"({"vendor":"nvidia","chips":4,"model":"GH200","meshes":[{"chips":[0,1,2,3],"kind":"NVLINK","lanes":6}]})"},
      {"a100-nvlink4-mesh-4",
       R"({"chips":4,"model":"A100","meshes":[{"chips":[0,1,2,3],"kind":"NVLINK","lanes":4}]})"},
  };
  return table;
}

std::optional<NodeTopology> machine_of(const Json& point) {
  const std::string name = point.at("machine").get<std::string>();
  if (point.value("id", "").rfind("a40-", 0) == 0) {
    // The source states 14.06 per lane, from the product sheet; the model uses what a ring gets
    // from an SM86 lane.
    Json stated = point.at("topology");
    for (Json& link : stated["links"]) link.erase("gbps_per_lane");
    stated["model"] = "A40";
    stated["p2p"] = point.value("config", "").find("P2P_DISABLE") == std::string::npos;
    auto t = codec::import_topology_json(stated.dump(), {});
    if (t) return std::move(t->topology);
    return std::nullopt;
  }
  for (const auto& [start, json] : described()) {
    if (name.rfind(start, 0) != 0) continue;
    auto t = codec::import_topology_json(json, {});
    if (!t) {
      fmt::print(stderr, "{}: {}\n", start, t.error().text());
      return std::nullopt;
    }
    return std::move(t->topology);
  }
  auto loaded = io::load_machine(name);
  if (loaded) return std::move(loaded->topology);
  return std::nullopt;
}

ChipSet chips_of(const Json& chips, const NodeTopology& t, int n) {
  ChipSet out;
  if (chips.is_array()) {
    for (const Json& c : chips) {
      if (const auto slot = t.slot_of(ChipIndex{c.get<int>()})) out.insert(*slot);
    }
    return out;
  }
  return ChipSet::first(std::min(n, t.chip_count()));  // "any n", "all"
}

std::string chips_text(const Json& chips) {
  if (!chips.is_array()) return chips.get<std::string>();
  std::string out;
  for (const Json& c : chips) out += (out.empty() ? "" : " ") + c.dump();
  return out;
}

// "8x NDR 400G" as the source states it.
struct StatedNics {
  int count = 0;
  double gbps = 0;  // GB/s of each
};

StatedNics stated_nics(const std::string& config) {
  const auto digit = [&config](std::size_t i) {
    return i < config.size() && config[i] >= '0' && config[i] <= '9';
  };
  StatedNics out;
  int cards = 0;
  for (std::size_t i = 0; i < config.size(); ++i) {
    if (config[i] == 'x' && i > 0 && digit(i - 1)) cards = config[i - 1] - '0';
    if (!digit(i)) continue;
    const int number = std::atoi(config.c_str() + i);
    while (digit(i + 1)) ++i;
    if (cards > 0 && i + 1 < config.size() && config[i + 1] == 'G') out = {cards, number / 8.0};
  }
  return out;
}

// The adapters that the source states, limited by the chips' ports if the machine's own adapters
// are known to be behind them; otherwise the machine's adapters.
solver::NodeRails rails_of_point(const Json& point, const NodeTopology& t, ChipSet chips) {
  const StatedNics stated = stated_nics(point.value("config", ""));
  if (stated.count == 0) return solver::rails_of(t, chips);
  double most = stated.gbps;
  if (!t.nics().empty()) most = chips.size() * t.host_bandwidth().pxb / stated.count;
  solver::NodeRails out;
  for (int k = 0; k < stated.count; ++k) out.rails.push_back({k, std::min(stated.gbps, most)});
  return out;
}

solver::GangShape shape_of(const Json& point, const NodeTopology& t, int nodes) {
  solver::Machine machine(t);
  const bool rack = point.at("machine").get<std::string>() == "gb200-nvl72";
  const int per_node = std::max(1, point.at("n").get<int>() / nodes);
  const ChipSet chips = chips_of(point.at("chips"), t, per_node);
  solver::GangShape shape;
  // A description has at most 64 chips; in a rack with switches all sets are equal.
  if (rack) shape.chip_fabric_gbps = machine.gbps(t.all());
  const solver::NodeBandwidth node{"each node", chips.size(), machine.gbps(chips),
                                   rails_of_point(point, t, chips)};
  shape.nodes.assign(static_cast<std::size_t>(nodes), node);
  for (solver::NodeBandwidth& one : shape.nodes) {
    if (rack) one.chips = point.at("n").get<int>() / nodes;
    one.reduction_gbps = solver::reduction_gbps(t, chips, *node.set_gbps);
  }
  shape.trees = t.vendor() == "nvidia";
  return shape;
}

// A copy between two chips in one direction, staged in host memory: it loads an uplink that both
// share once each way, where a ring loads it twice, and reaches more of the port.
std::optional<double> staged_copy_gbps(const Json& point, const NodeTopology& t) {
  constexpr double kStagedCopyShare = 0.85;
  const bool copy = point.at("collective").get<std::string>() == "p2p_copy";
  if (!copy || t.p2p()) return std::nullopt;
  return kStagedCopyShare * t.host_bandwidth().pix;
}

void predict(const Json& point, const NodeTopology& t, Point& out) {
  const solver::GangShape shape = shape_of(point, t, out.nodes);
  out.gang = solver::gang_bandwidth(shape);
  if (!out.gang.left_out.empty()) {
    out.missing = "NICs not stated";
    return;
  }
  out.predicted = out.gang.gbps;
  out.algorithm = "ring";
  out.limit = out.gang.limit_text;
  const bool ring = point.value("algo", "") == "ring";
  if (const auto copy = staged_copy_gbps(point, t)) {
    out.predicted = copy;
    out.algorithm = "staged copy";
  } else if (!ring && point.at("collective").get<std::string>() == "all_reduce") {
    const auto best = solver::all_reduce(shape, out.gang);
    if (!best) return;
    out.predicted = best->gbps;
    out.algorithm = best->algorithm;
    out.limit = best->limit;
  }
}

// By the words of its source.
bool is_broken(const Json& point) {
  const std::string notes = point.value("notes", "") + point.value("config", "");
  return point.value("confidence", "") == "low" || notes.find("degraded") != std::string::npos ||
         notes.find("TCP only") != std::string::npos;
}

Point read_point(const Json& p) {
  Point out;
  out.id = p.at("id").get<std::string>();
  out.machine = p.at("machine").get<std::string>();
  out.machine = out.machine.substr(0, out.machine.find(" ("));
  out.chips = chips_text(p.at("chips"));
  out.nodes = p.value("nodes", 1);
  out.measured = p.at("busbw_gbps").get<double>();
  out.what = p.at("collective").get<std::string>();
  if (p.contains("algo")) out.what += ", " + p["algo"].get<std::string>();
  if (out.nodes > 1) out.what += fmt::format(", {} nodes", out.nodes);
  const auto t = machine_of(p);
  if (!t) {
    out.missing = "no topology";
    return out;
  }
  out.broken = is_broken(p);
  predict(p, *t, out);
  return out;
}

}  // namespace

std::vector<Point> read_points(std::string_view json) {
  std::vector<Point> out;
  for (const Json& p : Json::parse(json)) out.push_back(read_point(p));
  return out;
}

std::vector<Pair> read_pairs(std::string_view json) {
  std::vector<Pair> out;
  for (const Json& p : Json::parse(json)) {
    const auto t = machine_of(p);
    if (!t) continue;
    solver::Machine machine(*t);
    const auto gbps = [&](const Json& chips) {
      const int n =
          chips.is_array() ? static_cast<int>(chips.size()) : chips.get<std::string>().back() - '0';
      return machine.gbps(chips_of(chips, *t, n));
    };
    Pair pair;
    pair.machine = p.at("machine").get<std::string>();
    pair.faster = chips_text(p.at("faster"));
    pair.slower = chips_text(p.at("slower"));
    pair.ratio = p.at("ratio").get<double>();
    pair.faster_gbps = gbps(p.at("faster"));
    pair.slower_gbps = gbps(p.at("slower"));
    pair.different_size =
        p.contains("flags") && p["flags"].dump().find("different_size") != std::string::npos;
    out.push_back(std::move(pair));
  }
  return out;
}

}  // namespace chipweave::measured
