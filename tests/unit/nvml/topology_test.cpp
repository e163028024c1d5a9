#include "node-agent/probes/nvidia/nvml_topology.hpp"

#include <gmock/gmock.h>

#include "common/io/files.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::Health;
using domain::LinkKind;
using domain::NodeTopology;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class NvmlTopologyTest : public FakeDriver {};

// Compares the rate of each lane as well, which the profile has.
void expect_profile(const NodeTopology& seen, const NodeTopology& profile) {
  expect_same_wiring(seen, profile);
  EXPECT_EQ(seen.rule().kind, profile.rule().kind);
  for (const domain::DirectLink& link : profile.links()) {
    const domain::DirectLink* same = seen.link(link.a, link.b);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(same->gbps_per_lane, link.gbps_per_lane);
  }
  ASSERT_EQ(seen.switches().size(), profile.switches().size());
  for (std::size_t i = 0; i < seen.switches().size(); ++i) {
    EXPECT_EQ(seen.switches()[i].gbps_per_lane, profile.switches()[i].gbps_per_lane);
  }
}

NodeTopology profile(const std::string& name) {
  auto loaded = io::load_machine(name);
  EXPECT_TRUE(loaded.ok());
  return std::move(loaded->topology);
}

TEST_F(NvmlTopologyTest, HgxH100IsItsProfile) {
  const NodeTopology seen = topology(hgx_h100());
  expect_profile(seen, profile("hgx-h100-8"));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(seen.model(), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(seen.chip(7).id, "GPU-7");
  EXPECT_EQ(seen.chip(7).pci, "0000:17:00.0");
  EXPECT_EQ(seen.chip(7).memory_bytes, 85899345920U);
}

TEST_F(NvmlTopologyTest, Dgx1IsItsProfile) {
  expect_profile(topology(dgx1v()), profile("hgx-v100-8"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(NvmlTopologyTest, OldDriverSeesTheSameMesh) {
  const NodeTopology seen = topology(dgx1v(), old());
  const NodeTopology known = profile("hgx-v100-8");
  ASSERT_EQ(seen.links().size(), known.links().size());
  for (const domain::DirectLink& link : known.links()) {
    const domain::DirectLink* same = seen.link(link.a, link.b);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(same->lanes, link.lanes);
    EXPECT_EQ(same->gbps_per_lane, link.gbps_per_lane);
  }
  EXPECT_THAT(seen.switches(), IsEmpty());
  EXPECT_EQ(seen.chip(0).numa, -1);
}

TEST_F(NvmlTopologyTest, PciePairHasItsHostPathOnly) {
  const NodeTopology seen = topology(pcie_pair());
  EXPECT_EQ(seen.host_path(0, 1), LinkKind::phb);
  EXPECT_THAT(seen.links(), IsEmpty());
  EXPECT_THAT(seen.switches(), IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(NvmlTopologyTest, GpuWithMigIsLeftOutOfNvlinkSets) {
  Json machine = hgx_h100();
  machine["devices"][2]["mig"] = {1, 1};
  const NodeTopology seen = topology(machine);
  EXPECT_EQ(seen.chip_count(), 8);
  EXPECT_EQ(seen.chip(2).health, Health::healthy);
  ASSERT_THAT(seen.switches(), SizeIs(1));
  EXPECT_THAT(seen.switches()[0].ports, SizeIs(7));
  EXPECT_FALSE(seen.switches()[0].members().contains(2));
  EXPECT_THAT(warnings_, Contains("GPU 2 has MIG enabled: its NVLinks are ignored"));

  machine = dgx1v();
  machine["devices"][0]["mig"] = {1, 1};
  const NodeTopology mesh = topology(machine);
  EXPECT_EQ(mesh.link(0, 3), nullptr);
  EXPECT_NE(mesh.link(1, 2), nullptr);
}

TEST_F(NvmlTopologyTest, LinkDownToASwitchIsALaneDown) {
  Json machine = hgx_h100();
  machine["devices"][4]["links"][9] = {{"link", 9}, {"state", 0}, {"field_state", 0}};
  machine["devices"][5]["links"].erase(17);
  const NodeTopology seen = topology(machine);
  ASSERT_THAT(seen.switches(), SizeIs(1));
  EXPECT_EQ(seen.switches()[0].ports[3].lanes_down, 0);
  for (const std::size_t gpu : {4U, 5U}) {
    EXPECT_EQ(seen.switches()[0].ports[gpu].lanes, 18);
    EXPECT_EQ(seen.switches()[0].ports[gpu].lanes_down, 1);
  }
}

TEST_F(NvmlTopologyTest, LinkUpOnOneSideOnlyIsDown) {
  Json machine = dgx1v();
  for (Json& link : machine["devices"][0]["links"]) {
    if (link["remote"] == bus_of(3)) {
      link["state"] = 0;
      break;
    }
  }
  const NodeTopology seen = topology(machine);
  ASSERT_NE(seen.link(0, 3), nullptr);
  EXPECT_EQ(seen.link(0, 3)->lanes, 2);
  EXPECT_EQ(seen.link(0, 3)->lanes_down, 1);
  EXPECT_THAT(warnings_, Contains("GPU 0 has 1 NVLinks up to GPU 3, which has 2 up to it: taken "
                                  "as 1"));
}

TEST_F(NvmlTopologyTest, LostGpuStaysAsAChip) {
  Json machine = dgx1v();
  machine["devices"][5]["errors"] = {{"*", nvml::kGpuIsLost}};
  const NodeTopology seen = topology(machine);
  ASSERT_EQ(seen.chip_count(), 8);
  EXPECT_EQ(seen.link(1, 5), nullptr);
  EXPECT_NE(seen.link(0, 4), nullptr);
  EXPECT_EQ(seen.model(), "Tesla V100-SXM2-16GB");
}

TEST_F(NvmlTopologyTest, NoChipIsJudged) {
  Json machine = hgx_h100();
  machine["devices"][0]["remapped"] = {0, 1, 0, 1};
  machine["devices"][2]["recovery_action"] = 2;
  machine["devices"][3]["errors"] = {{"nvmlDeviceGetEccMode", nvml::kResetRequired}};
  machine["devices"][4]["fabric"] = {{"state", 3}, {"health", 2}};
  machine["devices"][5]["errors"] = {{"*", nvml::kGpuIsLost}};
  const NodeTopology seen = topology(machine);
  EXPECT_TRUE(seen.unhealthy().empty());
  EXPECT_TRUE(seen.network_unhealthy().empty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(NvmlTopologyTest, WhatAVirtualMachineCannotSeeIsASwitch) {
  Json machine = hgx_h100();
  for (Json& gpu : machine["devices"]) {
    for (Json& link : gpu["links"]) {
      link["type"] = 255;
      link.erase("remote");
    }
  }
  expect_profile(topology(machine), profile("hgx-h100-8"));
}

TEST_F(NvmlTopologyTest, LinksToNowhereAreLeftOut) {
  Json machine = dgx1v();
  machine["devices"][0]["links"][0]["remote"] = "00000000:EE:00.0";
  machine["devices"][1]["links"][1]["remote"] = bus_of(1);
  const NodeTopology seen = topology(machine);
  EXPECT_EQ(seen.link(0, 1)->lanes_up(), 0);
  EXPECT_THAT(warnings_, Contains(HasSubstr("0000:ee:00.0, which is not a listed GPU")));
  EXPECT_THAT(warnings_, Contains(HasSubstr("which is the GPU itself")));
}

TEST_F(NvmlTopologyTest, DevicesThatContradictEachOtherAreRefused) {
  Json machine = pcie_pair();
  machine["devices"][1]["uuid"] = "GPU-0";
  const auto made = topology_of(read(machine).value());
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("have one id"));
}

TEST_F(NvmlTopologyTest, NoGpuIsNotFound) {
  const auto made = topology_of(read({{"devices", Json::array()}}).value());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::not_found);
}

}  // namespace
}  // namespace chipweave::agent
