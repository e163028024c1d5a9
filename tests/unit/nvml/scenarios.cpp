#include "tests/unit/nvml/scenarios.hpp"

#include <utility>

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

// Levels of pairs, by the size of the groups that share a level.
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

void measure(Json& machine) {
  unsigned of = 0;
  for (Json& gpu : machine["devices"]) {
    gpu["temperature"] = 40 + of;
    gpu["memory_temperature"] = 60 + of;
    gpu["power_mw"] = 350'500;
    gpu["memory_used"] = 1'000'000 + of;
    gpu["utilization"] = {93, 40};
    gpu["clock_mhz"] = 1980;
    gpu["pcie_sent"] = 5'000'000'000;
    gpu["pcie_received"] = 6'000'000'000;
    for (Json& link : gpu["links"]) {
      link["sent_kib"] = 1000;
      link["received_kib"] = 2000;
    }
    ++of;
  }
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

}  // namespace chipweave::agent
