#include <gtest/gtest.h>

#include "common/codec/mindcluster/names/super_device.hpp"
#include "common/codec/mindcluster/node/node_annotations.hpp"

namespace chipweave::codec::mindcluster {
namespace {

TEST(BaseDevices, AreACompactMapByName) {
  const BaseDevices devices = {{2, {"192.0.2.12", 262146}}, {10, {"", std::nullopt}}};
  const std::string text = write_base_devices("Ascend910", devices);
  EXPECT_EQ(text, R"({"Ascend910-10":{"IP":""},)"
                  R"("Ascend910-2":{"IP":"192.0.2.12","SuperDeviceID":262146}})");
  EXPECT_EQ(*read_base_devices("Ascend910", text), devices);
}

TEST(BaseDevices, WhatIsMissingOrNewDoesNoHarm) {
  const auto devices = read_base_devices(
      "npu", R"({"npu-0":{},"npu-1":{"IP":"-1","DeviceID":1,"levelList":[{"level":0}]}})");
  ASSERT_TRUE(devices.ok()) << devices.error().text();
  EXPECT_EQ(*devices, (BaseDevices{{0, {}}, {1, {}}}));
  EXPECT_TRUE(read_base_devices("npu", "")->empty());
}

TEST(BaseDevices, OtherChipsAndWrongNumbersAreErrors) {
  EXPECT_FALSE(read_base_devices("npu", R"({"Ascend910-0":{}})").ok());
  const auto devices = read_base_devices("npu", R"({"npu-0":{"SuperDeviceID":4294967296}})");
  ASSERT_FALSE(devices.ok());
  EXPECT_NE(devices.error().text().find("SuperDeviceID"), std::string::npos);
  EXPECT_FALSE(read_base_devices("npu", "[]").ok());
}

TEST(ResetInfo, ListsWhoHasToReset) {
  ResetInfo info;
  EXPECT_EQ(write_reset_info(info), R"({"ThirdPartyResetDevs":[],"ManualResetDevs":[]})");
  info.manual = {{1, 0, -1, 2, 3}};
  const std::string text = write_reset_info(info);
  EXPECT_EQ(text, R"({"ThirdPartyResetDevs":[],"ManualResetDevs":[{"CardId":1,"DeviceId":0,)"
                  R"("AssociatedCardId":-1,"PhyID":2,"LogicID":3}]})");
  EXPECT_EQ(*read_reset_info(text), info);
  EXPECT_EQ(*read_reset_info(R"({"ManualResetDevs":null})"), ResetInfo());
}

TEST(AnnotationNumber, IsAWholeNumber) {
  EXPECT_EQ(annotation_number("-2"), -2);
  EXPECT_EQ(annotation_number("17"), 17);
  for (const char* text : {"", " 1", "1 ", "x", "2147483648"}) {
    EXPECT_EQ(annotation_number(text), std::nullopt) << text;
  }
}

TEST(SuperDevice, PacksServerChipAndDie) {
  EXPECT_EQ(super_device_id({1, 3, 1}), 5046279U);
  EXPECT_EQ(super_device_of(5046279U), (SuperDevice{1, 3, 1}));
  EXPECT_EQ(super_device_of(16777216U), (SuperDevice{4, 0, 0}));
}

TEST(SuperDevice, ANumberThatContradictsItselfIsNone) {
  EXPECT_EQ(super_device_of(5046278U), std::nullopt);
  EXPECT_EQ(super_device_of(0xFFFFFFFFU), std::nullopt);
  EXPECT_EQ(super_device_id({0, 16, 0}), std::nullopt);
  EXPECT_EQ(super_device_id({0, 0, 2}), std::nullopt);
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
