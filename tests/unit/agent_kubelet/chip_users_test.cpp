// The kubelet's allocated devices as chips, for machines of each kind.
#include "node-agent/reporting/chip_users.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kAscend910 = "huawei.com/Ascend910";

TEST(ChipUsers, AreThoseThatAreNamed) {
  const ChipUsers got = chip_users(
      profile("ascend-910b-8"),
      {{kAscend910, "Ascend910-5"}, {kAscend910, "Ascend910-0"}, {kAscend910, "Ascend910-5"}});
  EXPECT_THAT(chips_in_use(got), ElementsAre(ChipIndex{0}, ChipIndex{5}));
  EXPECT_THAT(got.unknown_devices, IsEmpty());
  EXPECT_THAT(chips_in_use(chip_users(profile("ascend-910b-8"), {})), IsEmpty());
}

TEST(ChipUsers, AreCountedByPhysicalNumbers) {
  const NodeState state = chips("ascend", "Ascend910A", 4, [](domain::Chip& chip) {
    chip.physical_id = 7 - chip.index.value;
  });
  EXPECT_THAT(
      chips_in_use(chip_users(state, {{kAscend910, "Ascend910-7"}, {kAscend910, "Ascend910-5"}})),
      ElementsAre(ChipIndex{0}, ChipIndex{2}));
}

TEST(ChipUsers, OfEachGeneration) {
  EXPECT_THAT(chips_in_use(chip_users(chips("ascend", "Ascend310P", 2),
                                      {{"huawei.com/Ascend310P", "Ascend310P-1"}})),
              ElementsAre(ChipIndex{1}));
  EXPECT_THAT(chips_in_use(chip_users(chips("ascend", "Ascend310", 4),
                                      {{"huawei.com/Ascend310", "Ascend310-3"}})),
              ElementsAre(ChipIndex{3}));
  EXPECT_THAT(
      chips_in_use(chip_users(chips("ascend", "Ascend950", 8), {{"huawei.com/npu", "npu-2"}})),
      ElementsAre(ChipIndex{2}));
}

TEST(ChipUsers, AChipWithASliceGivenOutIsNoWholeChipForOthers) {
  const ChipUsers got =
      chip_users(profile("ascend-910b-8"), {{kAscend910, "Ascend910-0"},
                                            {"huawei.com/Ascend910-2c", "Ascend910-2c-100-1"},
                                            {"huawei.com/Ascend910-2c", "Ascend910-2c-101-1"},
                                            {"huawei.com/Ascend910-4c", "Ascend910-4c-102-6"}});
  EXPECT_THAT(chips_in_use(got), ElementsAre(ChipIndex{0}, ChipIndex{1}, ChipIndex{6}));
  EXPECT_THAT(got.unknown_devices, IsEmpty());
}

TEST(ChipUsers, OtherResourcesAreNobodysBusiness) {
  const ChipUsers got =
      chip_users(profile("ascend-910b-8"), {{"huawei.com/npu-core", "npu-core-3"},
                                            {"huawei.com/Ascend310P", "Ascend310P-0"},
                                            {"huawei.com/Ascend910B3", "Ascend910-1"},
                                            {"huawei.com/other", "Ascend910-1"}});
  EXPECT_THAT(chips_in_use(got), IsEmpty());
  EXPECT_THAT(got.unknown_devices, IsEmpty());
}

TEST(ChipUsers, UnknownDevicesAreNamedWithinBoundsAndLeftOut) {
  AllocatedDevices allocated = {
      {kAscend910, "Ascend910-77"}, {kAscend910, "Ascend910-1"}, {kAscend910, "three"}};
  ChipUsers got = chip_users(profile("ascend-910b-8"), allocated);
  EXPECT_THAT(chips_in_use(got), ElementsAre(ChipIndex{1}));
  EXPECT_THAT(got.unknown_devices,
              ElementsAre("Ascend910-77 of huawei.com/Ascend910", "three of huawei.com/Ascend910"));
  allocated.assign(1000, {kAscend910, std::string(1U << 16U, 'x')});
  got = chip_users(profile("ascend-910b-8"), allocated);
  EXPECT_EQ(got.unknown_devices.size(), kMaxUnknownDevices);
  EXPECT_LT(got.unknown_devices.front().size(), 200U);
}

TEST(ChipUsers, OtherVendorsHaveNone) {
  EXPECT_THAT(chips_in_use(chip_users(profile("hgx-h100-8"), {{kAscend910, "Ascend910-0"}})),
              IsEmpty());
}

TEST(ChipUsers, AreTheContainersOfEachChip) {
  const AllocatedDevices allocated = {
      {kAscend910, "Ascend910-1", "ml", "job-0", "main"},
      {kAscend910, "Ascend910-1", "ml", "job-0", "main"},
      {kAscend910, "Ascend910-2", "ml", "job-0", "main"},
      {"huawei.com/Ascend910-2c", "Ascend910-2c-100-2", "a", "b", "c"}};
  const ChipUsers got = chip_users(profile("ascend-910b-8"), allocated);
  ASSERT_EQ(got.chips.size(), 2U);
  EXPECT_THAT(got.chips.at(ChipIndex{1}), ElementsAre(ChipUser{"ml", "job-0", "main"}));
  EXPECT_THAT(got.chips.at(ChipIndex{2}),
              ElementsAre(ChipUser{"a", "b", "c"}, ChipUser{"ml", "job-0", "main"}));
}

// NVIDIA's plugin names GPUs by UUID, also time slices of them, and MIG instances by theirs.
TEST(ChipUsers, OfNvidia) {
  NodeState state = chips("nvidia", "H100", 4, [](domain::Chip& chip) {
    chip.id = "GPU-" + std::to_string(chip.index.value);
  });
  state.resources = {"nvidia.com/gpu"};
  state.facts["mig.3.1"] = "1g.10gb MIG-b4a2 9728 MiB";
  const ChipUsers got = chip_users(state, {{"nvidia.com/gpu", "GPU-0"},
                                           {"nvidia.com/gpu.shared", "GPU-1::2"},
                                           {"nvidia.com/hostdev", "0000:01:00.0"},
                                           {"nvidia.com/mig-1g.10gb", "MIG-b4a2"},
                                           {"nvidia.com/mig-1g.10gb", "MIG-b4a3"}});
  EXPECT_THAT(chips_in_use(got), ElementsAre(ChipIndex{0}, ChipIndex{1}, ChipIndex{3}));
  EXPECT_THAT(got.unknown_devices, ElementsAre("MIG-b4a3 of nvidia.com/mig-1g.10gb"));
}

// AMD's plugin names GPUs by PCI address.
TEST(ChipUsers, OfAmd) {
  NodeState state = chips("amd", "MI300X", 2, [](domain::Chip& chip) {
    chip.id = "0x" + std::to_string(chip.index.value);
    chip.pci = "0000:0" + std::to_string(chip.index.value) + ":00.0";
  });
  state.resources = {"amd.com/gpu"};
  EXPECT_THAT(chips_in_use(chip_users(state, {{"amd.com/gpu", "0000:01:00.0"}})),
              ElementsAre(ChipIndex{1}));
}

}  // namespace
}  // namespace chipweave::agent
