#include "tests/unit/nvml/machines.hpp"

#include <cstdlib>
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

std::string bus_of(int device) { return "00000000:1" + std::to_string(device) + ":00.0"; }

Json device(int index, const std::string& name, int numa) {
  return {{"uuid", "GPU-" + std::to_string(index)},
          {"name", name},
          {"minor", index},
          {"bus", bus_of(index)},
          {"numa_mask", 1U << static_cast<unsigned>(numa)},
          {"memory", 85899345920},
          {"mig", {0, 0}},
          {"ecc", {1, 1}},
          {"uncorrected_errors", 0},
          {"retired_pending", 0},
          {"remapped", {0, 0, 0, 0}},
          {"recovery_action", 0}};
}

Json link_to(int number, int device) {
  return {{"link", number}, {"state", 1}, {"version", 2},
          {"p2p", 1},       {"type", 0},  {"remote", bus_of(device)}};
}

Json hgx_h100() {
  Json machine = {{"driver", "550.54.15"}, {"level", 50}, {"devices", Json::array()}};
  for (int i = 0; i < 8; ++i) {
    Json gpu = device(i, "NVIDIA H100 80GB HBM3", i / 4);
    gpu["sm"] = {9, 0};
    gpu["fabric"] = {{"state", 3}, {"status", 0}, {"clique", 0}, {"health", 1}};
    for (int link = 0; link < 18; ++link) {
      gpu["links"].push_back({{"link", link},
                              {"state", 1},
                              {"field_state", 1},
                              {"version", 6},
                              {"p2p", 1},
                              {"type", 2},
                              {"remote", kSwitch}});
    }
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

FakeDriver::FakeDriver() {
  ::setenv("CHIPWEAVE_FAKE_NVML", folder_.at("scenario.json").c_str(), 1);
}

FakeDriver::~FakeDriver() { ::unsetenv("CHIPWEAVE_FAKE_NVML"); }

void FakeDriver::play(const Json& scenario) const { folder_.put("scenario.json", scenario.dump()); }

Result<NvmlSnapshot> FakeDriver::read(const Json& scenario, const std::string& library) const {
  play(scenario);
  auto opened = NvmlLibrary::open(library);
  if (!opened) return std::move(opened).error();
  return read_nvml(*opened);
}

domain::NodeTopology FakeDriver::topology(const Json& scenario, const std::string& library) {
  auto snapshot = read(scenario, library);
  EXPECT_TRUE(snapshot.ok()) << snapshot.error().text();
  auto made = topology_of(*snapshot, warnings_);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(made).value();
}

}  // namespace chipweave::agent
