#include "node-agent/probes/nvidia/nvml_partitions.hpp"

#include <gmock/gmock.h>

#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipSet;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class NvmlPartitions : public FakeDriver {
 protected:
  NvmlTopology made(const Json& scenario, FabricPartitions mode = FabricPartitions::hgx8) const {
    auto out = topology_of(read(scenario).value(), mode);
    EXPECT_TRUE(out.ok()) << out.error().text();
    return std::move(out).value();
  }
  void expect_refused(const Json& scenario, const std::string& why) const {
    const NvmlTopology seen = made(scenario);
    EXPECT_THAT(seen.topology.partitions(), IsEmpty());
    EXPECT_THAT(seen.warnings, Contains(HasSubstr(why)));
  }
};

TEST_F(NvmlPartitions, AnySetIsLegalByDefault) {
  const NvmlTopology seen = made(hgx_h100(), FabricPartitions::none);
  EXPECT_THAT(seen.topology.partitions(), IsEmpty());
  EXPECT_THAT(seen.warnings, IsEmpty());
}

TEST_F(NvmlPartitions, HopperPairsEverySecondModule) {
  const auto partitions = made(hgx_h100()).topology.partitions();
  ASSERT_THAT(partitions, SizeIs(15));
  EXPECT_THAT(partitions, Contains(ChipSet::first(8)));
  EXPECT_THAT(partitions, Contains(ChipSet{0, 1, 2, 3}));
  EXPECT_THAT(partitions, Contains(ChipSet{4, 5, 6, 7}));
  for (const ChipSet pair : {ChipSet{0, 2}, ChipSet{1, 3}, ChipSet{4, 6}, ChipSet{5, 7}}) {
    EXPECT_THAT(partitions, Contains(pair));
  }
  EXPECT_THAT(partitions, Not(Contains(ChipSet{0, 1})));
  for (int i = 0; i < 8; ++i) EXPECT_THAT(partitions, Contains(ChipSet{i}));
}

TEST_F(NvmlPartitions, BlackwellPairsNeighbours) {
  const auto partitions = made(hgx_b200()).topology.partitions();
  ASSERT_THAT(partitions, SizeIs(15));
  for (const ChipSet pair : {ChipSet{0, 1}, ChipSet{2, 3}, ChipSet{4, 5}, ChipSet{6, 7}}) {
    EXPECT_THAT(partitions, Contains(pair));
  }
}

TEST_F(NvmlPartitions, ModulesCountAndNotIndices) {
  Json machine = hgx_b200();
  const int modules[] = {7, 5, 8, 6, 3, 1, 4, 2};  // by index
  for (std::size_t i = 0; i < 8; ++i) machine["devices"][i]["module"] = modules[i];
  const auto partitions = made(machine).topology.partitions();
  EXPECT_THAT(partitions, Contains(ChipSet{4, 5, 6, 7}));  // modules 1 to 4
  EXPECT_THAT(partitions, Contains(ChipSet{5, 7}));        // modules 1 and 2
  EXPECT_THAT(partitions, Contains(ChipSet{0, 2}));        // modules 7 and 8
  EXPECT_THAT(partitions, Not(Contains(ChipSet{0, 1})));
}

TEST_F(NvmlPartitions, WhatIsNotKnownIsNotGuessed) {
  expect_refused(gb200_tray(), "4 GPUs, not 8");
  Json machine = hgx_h100();
  machine["devices"][4].erase("module");
  expect_refused(machine, "GPU 4 reports no module id");
  machine = hgx_h100();
  machine["devices"][4]["module"] = 9;
  expect_refused(machine, "GPU 4 has module id 9, not one of 1 to 8");
  machine["devices"][4]["module"] = 0;
  expect_refused(machine, "GPU 4 has module id 0, not one of 1 to 8");
  machine["devices"][4]["module"] = 8;
  expect_refused(machine, "GPU 7 has module id 8 like another");
  machine = hgx_h100();
  machine["devices"][4]["sm"] = {10, 0};
  expect_refused(machine, "not all of one generation");
  expect_refused(dgx1v(), "not all of one generation");
}

}  // namespace
}  // namespace chipweave::agent
