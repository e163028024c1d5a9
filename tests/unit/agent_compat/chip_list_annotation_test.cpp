#include "common/codec/agent/chip_list_annotation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec {
namespace {

constexpr const char* kName = "chipweave.dev/cordon-chips";

ChipSelection some(const std::vector<int>& chips) {
  ChipSelection out;
  for (const int chip : chips) out.chips.push_back(domain::ChipIndex{chip});
  return out;
}

TEST(ChipSelection, IsNumbersOrAStarOrNothing) {
  EXPECT_EQ(*parse_chip_selection(kName, "3,5"), some({3, 5}));
  EXPECT_EQ(*parse_chip_selection(kName, " 5 ,\t3, 5\n"), some({3, 5}));
  EXPECT_EQ(*parse_chip_selection(kName, "0"), some({0}));
  EXPECT_EQ(*parse_chip_selection(kName, ""), some({}));
  EXPECT_EQ(*parse_chip_selection(kName, " "), some({}));
  const auto all = parse_chip_selection(kName, "*");
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->all);
  EXPECT_FALSE(all->none());
  EXPECT_TRUE(some({}).none());
}

TEST(ChipSelection, WhatIsNoListIsRefusedAsAWholeAndNamed) {
  for (const std::string text : {"3,", ",3", "3,,5", "3;5", "3 5", "-1", "+1", "1.0", "0x1", "*,3",
                                 "3,*", "**", "GPU-0", "1048577", "99999999999999999999"}) {
    const auto chips = parse_chip_selection(kName, text);
    ASSERT_FALSE(chips.ok()) << text;
    EXPECT_EQ(chips.error().code, Errc::invalid_argument) << text;
    EXPECT_NE(chips.error().text().find(kName), std::string::npos) << text;
  }
}

TEST(ChipSelection, IsBounded) {
  EXPECT_EQ(parse_chip_selection(kName, std::string(2000, ' ')).error().code, Errc::limit_exceeded);
  std::string many = "0";
  for (int i = 1; i < 65; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(parse_chip_selection(kName, many).error().code, Errc::limit_exceeded);
  EXPECT_EQ(parse_chip_selection(kName, many.substr(0, many.rfind(',')))->chips.size(), 64U);
}

TEST(ChipSelection, ControlCharactersDoNotReachTheMessage) {
  const auto chips = parse_chip_selection(kName, std::string("3,\x1b[31m\xff\0x", 9));
  ASSERT_FALSE(chips.ok());
  for (const char c : chips.error().text()) EXPECT_TRUE(c >= ' ' && c < '\x7f') << int(c);
}

}  // namespace
}  // namespace chipweave::codec
