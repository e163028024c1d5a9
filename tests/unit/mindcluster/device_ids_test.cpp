#include "common/codec/mindcluster/names/device_ids.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec::mindcluster {
namespace {

TEST(DeviceIds, AWholeChipIsItsNumber) {
  EXPECT_EQ(chip_of_device("Ascend910", "huawei.com/Ascend910", "Ascend910-3"), 3);
  EXPECT_EQ(chip_of_device("Ascend310", "huawei.com/Ascend310", "Ascend310-11"), 11);
  EXPECT_EQ(chip_of_device("Ascend310P", "huawei.com/Ascend310P", "Ascend310P-0"), 0);
  EXPECT_EQ(chip_of_device("npu", "huawei.com/npu", "npu-2"), 2);
}

TEST(DeviceIds, ASliceIsOfTheChipThatItNamesLast) {
  EXPECT_EQ(chip_of_device("Ascend910", "huawei.com/Ascend910-2c", "Ascend910-2c-100-1"), 1);
  EXPECT_EQ(chip_of_device("Ascend910", "huawei.com/Ascend910-16c", "Ascend910-16c-107-7"), 7);
  EXPECT_EQ(
      chip_of_device("Ascend310P", "huawei.com/Ascend310P-4c.3cpu", "Ascend310P-4c.3cpu-101-0"), 0);
  EXPECT_EQ(chip_of_device("Ascend910", "huawei.com/Ascend910-12c.3cpu.32g",
                           "Ascend910-12c.3cpu.32g-100-6"),
            6);
}

TEST(DeviceIds, ResourcesAreToldApart) {
  EXPECT_EQ(device_kind("Ascend910", "huawei.com/Ascend910"), DeviceKind::chip);
  EXPECT_EQ(device_kind("Ascend910", "huawei.com/Ascend910-2c"), DeviceKind::slice);
  EXPECT_EQ(device_kind("npu", "huawei.com/npu"), DeviceKind::chip);
  for (const char* other :
       {"huawei.com/npu-core", "huawei.com/Ascend310P", "huawei.com/Ascend910B3",
        "huawei.com/Ascend910-", "huawei.com/", "Ascend910", "nvidia.com/gpu", ""}) {
    EXPECT_EQ(device_kind("Ascend910", other), DeviceKind::other) << other;
  }
  EXPECT_EQ(device_kind("npu", "huawei.com/npu-core"), DeviceKind::other);
  EXPECT_EQ(device_kind("Ascend310", "huawei.com/Ascend310P"), DeviceKind::other);
}

TEST(DeviceIds, WhatHasNoSuchFormIsNoChip) {
  for (const char* id : {"", "Ascend910", "Ascend910-", "Ascend910--1", "Ascend910-3x", "3",
                         "Ascend310-3", "Ascend910-2c-100-1", "Ascend910-3-0", "davinci3",
                         "Ascend910-99999999999999999999", "GPU-0e2b"}) {
    EXPECT_FALSE(chip_of_device("Ascend910", "huawei.com/Ascend910", id)) << id;
  }
  for (const char* id : {"", "Ascend910-2c", "Ascend910-2c-", "Ascend910-2c-1", "Ascend910-2c--1",
                         "Ascend910-2c-x-1", "Ascend910-2c-100-", "Ascend910-4c-100-1",
                         "Ascend910-2c-100-1-1", "Ascend910-1", "-"}) {
    EXPECT_FALSE(chip_of_device("Ascend910", "huawei.com/Ascend910-2c", id)) << id;
  }
  EXPECT_FALSE(chip_of_device("npu", "huawei.com/npu-core", "npu-core-3"));
  EXPECT_FALSE(chip_of_device("npu", "huawei.com/npu-core", "npu-core-3-1"));
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
