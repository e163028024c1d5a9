// Predicted against measured: prints the tables of docs/bandwidth-model.md as Markdown.
//
//   bandwidth_table DATA-FOLDER > tables.md      (DATA-FOLDER holds measured/measured.json and
//   rank_pairs.json)
//
// Machines of the measurements that are no built-in profile are described below, in the words of
// their source.
#include <fmt/format.h>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/topology/topology_json.hpp"
#include "common/io/files.hpp"
#include "common/solver/machine.hpp"

namespace {

using Json = nlohmann::json;
using chipweave::domain::ChipIndex;
using chipweave::domain::ChipSet;
using chipweave::domain::NodeTopology;

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
       R"({"chips":4,"model":"GH200","meshes":[{"chips":[0,1,2,3],"kind":"NVLINK","lanes":6}]})"},
      {"a100-nvlink4-mesh-4",
       R"({"chips":4,"model":"A100","meshes":[{"chips":[0,1,2,3],"kind":"NVLINK","lanes":4}]})"},
  };
  return table;
}

std::optional<NodeTopology> machine_of(const Json& point) {
  const std::string name = point.at("machine").get<std::string>();
  if (point.value("id", "").rfind("a40-", 0) == 0) {
    // The source states the product sheet's 14.06 a lane; the model takes what a ring gets from an
    // SM86 lane.
    Json stated = point.at("topology");
    for (Json& link : stated["links"]) link.erase("gbps_per_lane");
    stated["model"] = "A40";
    stated["p2p"] = point.value("config", "").find("P2P_DISABLE") == std::string::npos;
    auto t = chipweave::codec::topology_from_json_text(stated.dump());
    if (t) return std::move(t).value();
    return std::nullopt;
  }
  for (const auto& [start, json] : described()) {
    if (name.rfind(start, 0) != 0) continue;
    auto t = chipweave::codec::topology_from_json_text(json);
    if (!t) {
      fmt::print(stderr, "{}: {}\n", start, t.error().text());
      return std::nullopt;
    }
    return std::move(t).value();
  }
  auto loaded = chipweave::io::load_machine(name);
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

// Sum of the NIC line rates a multi-node run states ("8x NDR 400G"), else those of the profile;
// GB/s.
double nic_rate(const Json& point, const NodeTopology& t) {
  const std::string config = point.value("config", "");
  int count = 0;
  int rate = 0;
  int cards = 0;
  for (std::size_t i = 0; i < config.size(); ++i) {
    if (config[i] == 'x' && i > 0 && std::isdigit(static_cast<unsigned char>(config[i - 1])) != 0)
      cards = config[i - 1] - '0';
    if (std::isdigit(static_cast<unsigned char>(config[i])) != 0) {
      const int number = std::atoi(config.c_str() + i);
      while (i + 1 < config.size() && std::isdigit(static_cast<unsigned char>(config[i + 1])) != 0)
        ++i;
      if (i + 1 < config.size() && config[i + 1] == 'G') {
        rate = number;
        count = cards;
      }
    }
  }
  if (count > 0 && rate > 0) return count * rate / 8.0;
  double sum = 0;
  for (const auto& nic : t.nics()) sum += nic.gbps;
  return sum;
}

std::string chips_text(const Json& chips) {
  if (!chips.is_array()) return chips.get<std::string>();
  std::string out;
  for (const Json& c : chips) out += (out.empty() ? "" : " ") + c.dump();
  return out;
}

void print_points(const Json& points) {
  fmt::print(
      "| point | machine | chips | what | predicted GB/s | measured GB/s | miss "
      "|\n|---|---|---|---|---:|---:|---:|\n");
  int within20 = 0;
  int compared = 0;
  for (const Json& p : points) {
    const int nodes = p.value("nodes", 1);
    const double measured = p.at("busbw_gbps").get<double>();
    const std::string what = p.at("collective").get<std::string>() +
                             (p.contains("algo") ? ", " + p["algo"].get<std::string>() : "") +
                             (nodes > 1 ? fmt::format(", {} nodes", nodes) : "");
    std::string machine = p.at("machine").get<std::string>();
    machine = machine.substr(0, machine.find(" ("));
    const auto t = machine_of(p);
    const bool rack = machine == "gb200-nvl72";
    if (!t) {
      fmt::print("| {} | {} | {} | {} | no topology | {:.1f} | |\n", p["id"].get<std::string>(),
                 machine, chips_text(p["chips"]), what, measured);
      continue;
    }
    chipweave::solver::Machine m(*t);
    const int per_node = std::max(1, p.at("n").get<int>() / nodes);
    double predicted = m.gbps(chips_of(p["chips"], *t, rack ? 64 : per_node));
    if (nodes > 1 && !rack) {
      const double nics = nic_rate(p, *t);
      if (nics <= 0) {
        fmt::print("| {} | {} | {} | {} | NICs not stated | {:.1f} | |\n",
                   p["id"].get<std::string>(), machine, chips_text(p["chips"]), what, measured);
        continue;
      }
      predicted = per_node > 1 ? std::min(predicted, nics) : nics;
    }
    const double miss = (measured / predicted - 1) * 100;
    ++compared;
    within20 += std::abs(miss) <= 20 ? 1 : 0;
    fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} | {:+.0f} % |\n", p["id"].get<std::string>(),
               machine, chips_text(p["chips"]), what, predicted, measured, miss);
  }
  fmt::print("\n{} of {} points have a prediction; {} of them are within 20 %.\n", compared,
             points.size(), within20);
}

void print_pairs(const Json& pairs) {
  fmt::print(
      "\n| machine | faster | slower | measured ratio | predicted | order "
      "|\n|---|---|---|---:|---:|---|\n");
  int right = 0;
  int decidable = 0;
  for (const Json& p : pairs) {
    const auto t = machine_of(p);
    if (!t) continue;
    chipweave::solver::Machine m(*t);
    const auto value = [&](const Json& chips) {
      const int n =
          chips.is_array() ? static_cast<int>(chips.size()) : chips.get<std::string>().back() - '0';
      return m.gbps(chips_of(chips, *t, n));
    };
    const double fast = value(p["faster"]);
    const double slow = value(p["slower"]);
    const bool sizes =
        p.contains("flags") && p["flags"].dump().find("different_size") != std::string::npos;
    decidable += sizes ? 0 : 1;
    right += !sizes && fast > slow ? 1 : 0;
    fmt::print("| {} | {} | {} | {:.2f} | {:.1f} : {:.1f} | {} |\n",
               p["machine"].get<std::string>(), chips_text(p["faster"]), chips_text(p["slower"]),
               p["ratio"].get<double>(), fast, slow,
               sizes ? "NVLS, other size: not a question to a ring model"
                     : (fast > slow ? "right" : "WRONG"));
  }
  fmt::print("\n{} of {} pairs that the topology decides are ordered right.\n", right, decidable);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bandwidth_table DATA-FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  for (const auto& [file, print] : {std::pair{"/measured/measured.json", &print_points},
                                    std::pair{"/measured/rank_pairs.json", &print_pairs}}) {
    const auto text =
        chipweave::io::read_file(folder + file, chipweave::limits::kMaxTopologyFileBytes);
    if (!text) {
      fmt::print(stderr, "{}\n", text.error().text());
      return 3;
    }
    print(Json::parse(*text));
  }
  return 0;
}
