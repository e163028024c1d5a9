#include "tests/unit/dcmi/machines.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_reader.hpp"

namespace chipweave::agent {
namespace {

constexpr int kCpusOfNode = 24;

std::string cpus_of(int node) {
  return std::to_string(node * kCpusOfNode) + "-" + std::to_string((node + 1) * kCpusOfNode - 1);
}

Json device(int index, const std::string& name, int ai_cores, int numa) {
  return {
      {"logic", index},       {"physical", index}, {"chip", {"Ascend", name, "V1", ai_cores, name}},
      {"board", 40},          {"health", 0},       {"codes", Json::array()},
      {"cpus", cpus_of(numa)}};
}

// With a working RoCE port and working HCCS links.
Json trained(int index, const std::string& name, int ai_cores, int numa) {
  Json out = device(index, name, ai_cores, numa);
  out["network"] = 0;
  out["ip"] = {192, 0, 2, 10 + index};
  out["hccs"] = {0, 3};
  return out;
}

Json machine(const std::string& driver, int topo) {
  return {{"driver", driver}, {"topo", topo}, {"cards", Json::array()}, {"pairs", Json::array()}};
}

void add_card(Json& to, Json devices) {
  to["cards"].push_back({{"card", to["cards"].size()}, {"devices", std::move(devices)}});
}

// Pairs of one group of `size` places.
void group(Json& to, int count, int size, int type) {
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count && b / size == a / size; ++b) {
      to["pairs"].push_back({{"a", a}, {"b", b}, {"type", type}});
    }
  }
}

}  // namespace

Json atlas_910a() {
  Json out = machine("22.0.4", dcmi::kTopoSys);
  for (int i = 0; i < 8; ++i) add_card(out, Json::array({trained(i, "910A", 32, i / 4)}));
  group(out, 8, 4, dcmi::kTopoHccs);
  return out;
}

Json atlas_a2(int chips) {
  Json out = machine("24.1.rc3", dcmi::kTopoSys);
  const std::vector<int> nodes = {6, 6, 4, 4, 0, 0, 2, 2};
  for (int i = 0; i < chips; ++i) {
    const int node = chips == 8 ? nodes[static_cast<std::size_t>(i)] : i / 8;
    add_card(out, Json::array({trained(i, "910B3", 20, node)}));
  }
  group(out, chips, 8, dcmi::kTopoHccs);
  return out;
}

Json atlas_a3() {
  Json out = machine("25.0.rc1", dcmi::kTopoHccsSwitch);
  for (int card = 0; card < 8; ++card) {
    Json dies = Json::array();
    for (int die = 0; die < 2; ++die) {
      const int index = card * 2 + die;
      Json one = trained(index, "Ascend910", 24, index / 8);
      const unsigned sdid = (4U << 22U) | (static_cast<unsigned>(card) << 18U) |
                            (static_cast<unsigned>(die) << 16U) | static_cast<unsigned>(index);
      one["spod"] = {sdid, 384, 2, 4, 0xffffffffU, 0xffffffffU};
      dies.push_back(std::move(one));
    }
    add_card(out, std::move(dies));
    out["cards"].back()["mcu"] = 2;
  }
  group(out, 16, 2, dcmi::kTopoSio);
  return out;
}

Json duo_310p() {
  Json out = machine("23.0.rc1", dcmi::kTopoSys);
  for (int card = 0; card < 4; ++card) {
    Json chips = Json::array();
    for (int chip = 0; chip < 2; ++chip) {
      chips.push_back(device(card * 2 + chip, "310P3", 8, card / 2));
    }
    add_card(out, std::move(chips));
    out["cards"].back()["card"] = 8 * (card + 1);
    out["cards"].back()["mcu"] = 2;
  }
  group(out, 8, 2, dcmi::kTopoPix);
  return out;
}

Json atlas_a5(int chips) {
  Json out = machine("26.0.rc1", dcmi::kTopoSys);
  for (int i = 0; i < chips; ++i) {
    add_card(out, Json::array({device(i, "Ascend950PR", 36, i / (chips / 2))}));
  }
  group(out, chips, 4, dcmi::kTopoUb);
  return out;
}

Json& device_at(Json& machine, int place) {
  for (Json& card : machine["cards"]) {
    const int here = static_cast<int>(card["devices"].size());
    if (place < here) return card["devices"][static_cast<std::size_t>(place)];
    place -= here;
  }
  throw std::out_of_range("no device at that place");
}

FakeDcmi::FakeDcmi() {
  ::setenv("CHIPWEAVE_FAKE_DCMI", folder_.at("scenario.json").c_str(), 1);
  for (int node = 0; node < 8; ++node) {
    const std::string name = "root/sys/devices/system/node/node" + std::to_string(node);
    folder_.put(name + "/cpulist", cpus_of(node) + "\n");
  }
}

FakeDcmi::~FakeDcmi() { ::unsetenv("CHIPWEAVE_FAKE_DCMI"); }

void FakeDcmi::play(const Json& scenario) const { folder_.put("scenario.json", scenario.dump()); }

Result<DcmiSnapshot> FakeDcmi::read(const Json& scenario, const std::string& library) const {
  play(scenario);
  auto opened = DcmiLibrary::open({library});
  if (!opened) return std::move(opened).error();
  return read_dcmi(*opened);
}

DcmiSnapshot FakeDcmi::snapshot(const Json& scenario, const std::string& library) const {
  auto out = read(scenario, library);
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out).value();
}

AscendOptions FakeDcmi::options(const std::string& library) const {
  AscendOptions out;
  out.dcmi = library;
  out.hccn_conf = folder_.at("hccn.conf");
  out.sysfs_root = folder_.at("root");
  return out;
}

domain::Observation FakeDcmi::observe(const Json& scenario, const std::string& library) const {
  play(scenario);
  auto seen = AscendProbe(options(library)).discover();
  EXPECT_TRUE(seen.ok()) << seen.error().text();
  return std::move(seen).value();
}

}  // namespace chipweave::agent
