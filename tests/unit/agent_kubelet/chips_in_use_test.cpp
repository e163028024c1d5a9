// The kubelet's allocated devices as chips, for machines of each kind.
#include "node-agent/kubelet/chips_in_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kAscend910 = "huawei.com/Ascend910";

TEST(ChipsInUse, AreThoseThatAreNamed) {
  const ChipsInUse got = chips_in_use(
      profile("ascend-910b-8").topology,
      {{kAscend910, "Ascend910-5"}, {kAscend910, "Ascend910-0"}, {kAscend910, "Ascend910-5"}});
  EXPECT_THAT(got.chips, ElementsAre(ChipIndex{0}, ChipIndex{5}));
  EXPECT_THAT(got.unknown_devices, IsEmpty());
  EXPECT_THAT(chips_in_use(profile("ascend-910b-8").topology, {}).chips, IsEmpty());
}

TEST(ChipsInUse, AreCountedByPhysicalNumbers) {
  const NodeState state = chips("ascend", "Ascend910A", 4, [](domain::Chip& chip) {
    chip.physical_id = 7 - chip.index.value;
  });
  EXPECT_THAT(
      chips_in_use(state.topology, {{kAscend910, "Ascend910-7"}, {kAscend910, "Ascend910-5"}})
          .chips,
      ElementsAre(ChipIndex{0}, ChipIndex{2}));
}

TEST(ChipsInUse, OfEachGeneration) {
  EXPECT_THAT(chips_in_use(chips("ascend", "Ascend310P", 2).topology,
                           {{"huawei.com/Ascend310P", "Ascend310P-1"}})
                  .chips,
              ElementsAre(ChipIndex{1}));
  EXPECT_THAT(chips_in_use(chips("ascend", "Ascend310", 4).topology,
                           {{"huawei.com/Ascend310", "Ascend310-3"}})
                  .chips,
              ElementsAre(ChipIndex{3}));
  EXPECT_THAT(
      chips_in_use(chips("ascend", "Ascend950", 8).topology, {{"huawei.com/npu", "npu-2"}}).chips,
      ElementsAre(ChipIndex{2}));
}

TEST(ChipsInUse, AChipWithASliceGivenOutIsNoWholeChipForOthers) {
  const ChipsInUse got = chips_in_use(profile("ascend-910b-8").topology,
                                      {{kAscend910, "Ascend910-0"},
                                       {"huawei.com/Ascend910-2c", "Ascend910-2c-100-1"},
                                       {"huawei.com/Ascend910-2c", "Ascend910-2c-101-1"},
                                       {"huawei.com/Ascend910-4c", "Ascend910-4c-102-6"}});
  EXPECT_THAT(got.chips, ElementsAre(ChipIndex{0}, ChipIndex{1}, ChipIndex{6}));
  EXPECT_THAT(got.unknown_devices, IsEmpty());
}

TEST(ChipsInUse, OtherResourcesAreNobodysBusiness) {
  const ChipsInUse got =
      chips_in_use(profile("ascend-910b-8").topology, {{"huawei.com/npu-core", "npu-core-3"},
                                                       {"huawei.com/Ascend310P", "Ascend310P-0"},
                                                       {"huawei.com/Ascend910B3", "Ascend910-1"},
                                                       {"huawei.com/other", "Ascend910-1"}});
  EXPECT_THAT(got.chips, IsEmpty());
  EXPECT_THAT(got.unknown_devices, IsEmpty());
}

TEST(ChipsInUse, UnknownDevicesAreNamedWithinBoundsAndLeftOut) {
  AllocatedDevices allocated = {
      {kAscend910, "Ascend910-77"}, {kAscend910, "Ascend910-1"}, {kAscend910, "three"}};
  ChipsInUse got = chips_in_use(profile("ascend-910b-8").topology, allocated);
  EXPECT_THAT(got.chips, ElementsAre(ChipIndex{1}));
  EXPECT_THAT(got.unknown_devices,
              ElementsAre("Ascend910-77 of huawei.com/Ascend910", "three of huawei.com/Ascend910"));
  allocated.assign(1000, {kAscend910, std::string(1U << 16U, 'x')});
  got = chips_in_use(profile("ascend-910b-8").topology, allocated);
  EXPECT_EQ(got.unknown_devices.size(), kMaxUnknownDevices);
  EXPECT_LT(got.unknown_devices.front().size(), 200U);
}

TEST(ChipsInUse, OtherVendorsHaveNone) {
  EXPECT_THAT(chips_in_use(profile("hgx-h100-8").topology, {{kAscend910, "Ascend910-0"}}).chips,
              IsEmpty());
}

}  // namespace
}  // namespace chipweave::agent
