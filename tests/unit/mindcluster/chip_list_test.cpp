#include "common/codec/mindcluster/names/chip_list.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec::mindcluster {
namespace {

TEST(ChipList, IsWrittenAscendingWithBareCommas) {
  EXPECT_EQ(write_chip_list("Ascend910", {10, 2, 0, 2}), "Ascend910-0,Ascend910-2,Ascend910-10");
  EXPECT_EQ(write_chip_list("npu", {3}), "npu-3");
  EXPECT_EQ(write_chip_list("npu", {}), "");
}

TEST(ChipList, BlanksAreAcceptedOnReading) {
  const auto chips = read_chip_list("Ascend910", " Ascend910-3, Ascend910-1 ,\n,Ascend910-3,");
  ASSERT_TRUE(chips.ok()) << chips.error().text();
  EXPECT_EQ(*chips, (std::vector<int>{1, 3}));
  EXPECT_TRUE(read_chip_list("Ascend910", " ")->empty());
}

TEST(ChipList, OtherNamesAreErrorsThatShowThem) {
  for (const char* text : {"Ascend310-1", "Ascend910", "Ascend910-", "Ascend910--1", "Ascend910-1x",
                           "Ascend910-99999999999", "Ascend910-0;Ascend910-1", "0"}) {
    const auto chips = read_chip_list("Ascend910", text);
    ASSERT_FALSE(chips.ok()) << text;
    EXPECT_NE(chips.error().text().find("\"Ascend910-0\""), std::string::npos);
  }
  EXPECT_FALSE(read_chip_list("Ascend310", "Ascend310P-1").ok());
}

TEST(ChipList, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxListedChips; ++i) text += "npu-1,";
  EXPECT_EQ(read_chip_list("npu", text).error().code, Errc::limit_exceeded);
  EXPECT_EQ(read_chip_list("npu", std::string(1U << 20U, ',')).error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
