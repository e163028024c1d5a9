#include "cli/chip_flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const std::vector<std::string>& pieces) {
  const auto chips = parse_chips("--chips", pieces);
  return chips ? "accepted" : chips.error().text();
}

TEST(ChipFlags, ListsKeepTheirOrder) {
  EXPECT_THAT(*parse_chips("--free", {"4,1,0"}), ElementsAre(4, 1, 0));
  EXPECT_THAT(*parse_chips("--free", {"4", "1,0"}), ElementsAre(4, 1, 0));
  EXPECT_THAT(*parse_chips("--free", {""}), IsEmpty());
}

TEST(ChipFlags, RangesStandForTheirChips) {
  EXPECT_THAT(*parse_chips("--free", {"0-3,6"}), ElementsAre(0, 1, 2, 3, 6));
  EXPECT_THAT(*parse_chips("--free", {"6", "2-2", "4-5"}), ElementsAre(6, 2, 4, 5));
  EXPECT_EQ(refusal({"0-3,2"}), "--chips: expected each chip once, got 2 twice");
  EXPECT_EQ(refusal({"3-0"}), "--chips: range \"3-0\" is reversed");
  EXPECT_EQ(parse_chips("--free", {"0-1048576"})->size(), 1048577U);  // the largest index
}

TEST(ChipFlags, AChipNamedTwiceIsAnErrorAsInABatch) {
  EXPECT_EQ(refusal({"0,1,0"}), "--chips: expected each chip once, got 0 twice");
  EXPECT_EQ(refusal({"3", "3"}), "--chips: expected each chip once, got 3 twice");
}

TEST(ChipFlags, WhatIsNoIndexIsRefused) {
  for (const char* text : {",",
                           "0,",
                           ",0",
                           "0,,1",
                           "x",
                           "0x1",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "1.0",
                           "1048577",
                           "99999999999999999999",
                           "0-",
                           "-",
                           "0--1",
                           "0-1-2",
                           "0-x",
                           "0 - 1",
                           "0-1048577"}) {
    EXPECT_THAT(refusal({text}), HasSubstr("expected chip indices such as 0,1,4 or 0-3,6, got "))
        << text;
  }
}

TEST(ChipFlags, LinksAreReadToTheirEnd) {
  const auto whole = parse_down_link("0-3");
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  EXPECT_EQ(whole->b.value, 3);
  EXPECT_FALSE(whole->lanes.has_value());
  EXPECT_EQ(parse_down_link("10-3:2")->lanes, 2);
  for (const char* text : {"", "0", "0-", "-3", "0-3:", "0-3:0", "0-3:1z", "0-3z", "0-3:1:1",
                           "0 -3", "0--3", "0:1-3", "0-3:-1", "0-3:1025"}) {
    const auto link = parse_down_link(text);
    ASSERT_FALSE(link.ok()) << text;
    EXPECT_THAT(link.error().text(), HasSubstr("expected a link A-B or A-B:LANES, got ")) << text;
  }
  EXPECT_THAT(parse_down_link("3-3").error().text(),
              HasSubstr("expected two different chips, got \"3-3\""));
}

}  // namespace
}  // namespace chipweave::cli
