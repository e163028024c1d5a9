#include "tests/unit/nvml/machines.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "node-agent/probes/nvidia/nvml_library.hpp"
#include "node-agent/probes/nvidia/nvml_reader.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kSwitch = "00000000:C1:00.0";

void connect(Json& machine, int a, int b, int lanes) {
  for (int lane = 0; lane < lanes; ++lane) {
    Json& of_a = machine["devices"][static_cast<std::size_t>(a)]["links"];
    Json& of_b = machine["devices"][static_cast<std::size_t>(b)]["links"];
    of_a.push_back(link_to(static_cast<int>(of_a.size()), b));
    of_b.push_back(link_to(static_cast<int>(of_b.size()), a));
  }
}

// Levels of pairs by the size of the groups that share them.
void group(Json& machine, int size, int level) {
  const int count = static_cast<int>(machine["devices"].size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count && b / size == a / size; ++b) {
      machine["levels"].push_back({{"a", a}, {"b", b}, {"level", level}});
    }
  }
}

}  // namespace

std::string bus_of(int device) {
  constexpr int kFirst = 0x10;
  constexpr const char* kDigits = "0123456789ABCDEF";
  const auto bus = static_cast<unsigned>(kFirst + device);
  return std::string("00000000:") + kDigits[bus / 16] + kDigits[bus % 16] + ":00.0";
}

Json device(int index, const std::string& name, int numa) {
  return {{"uuid", "GPU-" + std::to_string(index)},
          {"name", name},
          {"minor", index},
          {"module", index + 1},
          {"bus", bus_of(index)},
          {"numa_mask", 1U << static_cast<unsigned>(numa)},
          {"memory", 85899345920},
          {"mig", {0, 0}},
          {"ecc", {1, 1}},
          {"uncorrected_errors", 0},
          {"corrected_errors", 0},
          {"clock_reasons", 1},
          {"event_types", 0x1f},
          {"retired_pending", 0},
          {"remapped", {0, 0, 0, 0}},
          {"recovery_action", 0}};
}

Json link_to(int number, int device) {
  return {{"link", number},           {"state", 1},  {"version", 2}, {"p2p", 1},     {"type", 0},
          {"remote", bus_of(device)}, {"replay", 0}, {"crc", 0},     {"recovery", 0}};
}

Json link_to_switch(int number) {
  return {{"link", number}, {"state", 1},         {"field_state", 1},  {"version", 6},
          {"p2p", 1},       {"type", 2},          {"remote", kSwitch}, {"field_replay", 0},
          {"field_crc", 0}, {"field_recovery", 0}};
}

void take_down(Json& machine, int device, int link) {
  Json& facts = machine["devices"].at(static_cast<std::size_t>(device))["links"].at(
      static_cast<std::size_t>(link));
  facts["state"] = 0;
  if (facts.contains("field_state")) facts["field_state"] = 0;
}

Json hgx_h100() {
  Json machine = {
      {"driver", "550.54.15"}, {"cuda", 12040}, {"level", 50}, {"devices", Json::array()}};
  for (int i = 0; i < 8; ++i) {
    Json gpu = device(i, "NVIDIA H100 80GB HBM3", i / 4);
    gpu["sm"] = {9, 0};
    gpu["fabric"] = {{"state", 3}, {"status", 0}, {"clique", 0}, {"health", 1}};
    for (int link = 0; link < 18; ++link) gpu["links"].push_back(link_to_switch(link));
    machine["devices"].push_back(std::move(gpu));
  }
  group(machine, 4, 40);
  return machine;
}

Json dgx1v() {
  Json machine = {{"driver", "418.40"}, {"level", 50}, {"devices", Json::array()}};
  for (int i = 0; i < 8; ++i) {
    Json gpu = device(i, "Tesla V100-SXM2-16GB", i / 4);
    gpu["sm"] = {7, 0};
    gpu["links"] = Json::array();
    machine["devices"].push_back(std::move(gpu));
  }
  for (const int base : {0, 4}) {
    connect(machine, base, base + 1, 1);
    connect(machine, base, base + 2, 1);
    connect(machine, base + 1, base + 2, 2);
    connect(machine, base + 1, base + 3, 1);
  }
  connect(machine, 0, 3, 2);
  connect(machine, 2, 3, 2);
  connect(machine, 4, 7, 2);
  connect(machine, 6, 7, 2);
  connect(machine, 0, 4, 2);
  connect(machine, 1, 5, 2);
  connect(machine, 2, 6, 1);
  connect(machine, 3, 7, 1);
  group(machine, 4, 30);
  group(machine, 2, 10);
  return machine;
}

Json pcie_pair() {
  Json machine = {{"driver", "550.54.15"}, {"level", 30}, {"devices", Json::array()}};
  for (int i = 0; i < 2; ++i) {
    Json gpu = device(i, "NVIDIA L40S", 0);
    gpu["sm"] = {8, 9};
    machine["devices"].push_back(std::move(gpu));
  }
  return machine;
}

Json a100_bridged() {
  Json machine = {{"driver", "550.54.15"}, {"level", 50}, {"devices", Json::array()}};
  for (int i = 0; i < 4; ++i) {
    Json gpu = device(i, "NVIDIA A100 80GB PCIe", i / 2);
    gpu["sm"] = {8, 0};
    gpu["links"] = Json::array();
    machine["devices"].push_back(std::move(gpu));
  }
  connect(machine, 0, 1, 12);
  connect(machine, 2, 3, 12);
  group(machine, 2, 40);
  return machine;
}

Json hgx_b200() {
  Json machine = hgx_h100();
  for (Json& gpu : machine["devices"]) {
    gpu["name"] = "NVIDIA B200";
    gpu["sm"] = {10, 0};
    for (Json& link : gpu["links"]) {
      link["version"] = 7;
      for (const char* key : {"field_replay", "field_recovery", "field_crc"}) link.erase(key);
      link["field_recovery_events"] = 0;
    }
  }
  return machine;
}

Json gb200_tray() {
  Json machine = hgx_b200();
  machine["devices"].erase(machine["devices"].begin() + 4, machine["devices"].end());
  machine["levels"] = Json::array();
  for (Json& gpu : machine["devices"]) {
    gpu["name"] = "NVIDIA GB200";
    gpu["fabric"] = {
        {"state", 3}, {"status", 0}, {"clique", 32766}, {"cluster", 0xab}, {"health", 1}};
  }
  return machine;
}

void expect_same_wiring(const domain::NodeTopology& seen, const domain::NodeTopology& known) {
  ASSERT_EQ(seen.chip_count(), known.chip_count());
  EXPECT_EQ(seen.vendor(), known.vendor());
  for (int a = 0; a < seen.chip_count(); ++a) {
    EXPECT_EQ(seen.chip(a).index, known.chip(a).index);
    EXPECT_EQ(seen.chip(a).numa, known.chip(a).numa);
    for (int b = 0; b < seen.chip_count(); ++b) {
      EXPECT_EQ(seen.host_path(a, b), known.host_path(a, b)) << a << "-" << b;
      const domain::DirectLink* one = a < b ? seen.link(a, b) : nullptr;
      const domain::DirectLink* other = a < b ? known.link(a, b) : nullptr;
      ASSERT_EQ(one == nullptr, other == nullptr) << a << "-" << b;
      if (one == nullptr) continue;
      EXPECT_EQ(one->lanes, other->lanes) << a << "-" << b;
      EXPECT_EQ(one->lanes_down, other->lanes_down) << a << "-" << b;
    }
  }
  ASSERT_EQ(seen.switches().size(), known.switches().size());
  for (std::size_t i = 0; i < seen.switches().size(); ++i) {
    const domain::Switch& one = seen.switches()[i];
    const domain::Switch& other = known.switches()[i];
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.members(), other.members());
    for (std::size_t p = 0; p < one.ports.size(); ++p) {
      EXPECT_EQ(one.ports[p].lanes, other.ports[p].lanes);
      EXPECT_EQ(one.ports[p].lanes_down, other.ports[p].lanes_down);
    }
  }
}

FakeDriver::FakeDriver() {
  ::setenv("CHIPWEAVE_FAKE_NVML", folder_.at("scenario.json").c_str(), 1);
}

FakeDriver::~FakeDriver() { ::unsetenv("CHIPWEAVE_FAKE_NVML"); }

// Another file takes its name: the library never sees half of one, and always that it is another.
void FakeDriver::play(const Json& scenario) const {
  std::filesystem::rename(folder_.put("next.json", scenario.dump()), folder_.at("scenario.json"));
}

Result<NvmlSnapshot> FakeDriver::read(const Json& scenario, const std::string& library) const {
  play(scenario);
  auto opened = NvmlLibrary::open(library);
  if (!opened) return std::move(opened).error();
  return read_nvml(*opened);
}

domain::NodeTopology FakeDriver::topology(const Json& scenario, const std::string& library) {
  auto snapshot = read(scenario, library);
  EXPECT_TRUE(snapshot.ok()) << snapshot.error().text();
  auto made = topology_of(*snapshot);
  EXPECT_TRUE(made.ok()) << made.error().text();
  warnings_ = made->warnings;
  return std::move(made->topology);
}

}  // namespace chipweave::agent
