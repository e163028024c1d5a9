// Scenarios of the fake driver library that look like real machines, and a fixture that loads them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/nvidia/nvml_snapshot.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {

using Json = nlohmann::json;

// "00000000:14:00.0" of device 4.
std::string bus_of(int device);
Json device(int index, const std::string& name, int numa);
// A link to another device.
Json link_to(int number, int device);
// A link to an NVSwitch as sm_90 and later have it.
Json link_to_switch(int number);
// Takes a link of a device down, for both ways of asking.
void take_down(Json& machine, int device, int link);
// Eight H100 on NVSwitches, 18 links each, four on each NUMA node.
Json hgx_h100();
// Eight V100 in a hybrid cube mesh.
Json dgx1v();
// Two cards without NVLink under one host bridge.
Json pcie_pair();
// Four A100 PCIe, bridged in pairs by 12 links.
Json a100_bridged();
// Eight B200: NVLink 5, which counts other errors of its links.
Json hgx_b200();
// A tray of four GB200 that is part of a clique.
Json gb200_tray();

// The same lanes between the same chips, and the same host paths; not NICs and bandwidths.
void expect_same_wiring(const domain::NodeTopology& seen, const domain::NodeTopology& known);

class FakeDriver : public testing::Test {
 public:
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  ~FakeDriver() override;

 protected:
  FakeDriver();
  // What the fake library is told to answer from its next call on.
  void play(const Json& scenario) const;
  Result<NvmlSnapshot> read(const Json& scenario, const std::string& library = current()) const;
  // The topology of a scenario that must have one; warnings_ are its warnings.
  domain::NodeTopology topology(const Json& scenario, const std::string& library = current());

  static std::string current() { return CHIPWEAVE_FAKE_NVML_CURRENT; }
  static std::string old() { return CHIPWEAVE_FAKE_NVML_OLD; }

  io::TempFolder folder_;
  std::vector<std::string> warnings_;
};

}  // namespace chipweave::agent
