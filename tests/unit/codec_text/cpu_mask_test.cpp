#include "common/codec/text/cpu_mask.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

TEST(CpuMask, BecomesAList) {
  EXPECT_EQ(cpu_list_of_mask("00000000,000fffff"), "0-19");
  EXPECT_EQ(cpu_list_of_mask("000000ff,fff00000"), "20-39");
  EXPECT_EQ(cpu_list_of_mask("0003ff,f0003fff"), "0-13,28-41");
  EXPECT_EQ(cpu_list_of_mask("0x80000000,,0x00000001"), "0,95");
  EXPECT_EQ(cpu_list_of_mask("1"), "0");
}

TEST(CpuMask, WhatIsNoMaskIsEmpty) {
  for (const char* text : {"", "0", "0x0", "00000000,00000000", "fff00000000", "0-3", "x", "1,y"})
    EXPECT_EQ(cpu_list_of_mask(text), "") << text;
  std::string long_mask = "1";
  for (int i = 1; i < 256; ++i) long_mask += ",0";
  EXPECT_EQ(cpu_list_of_mask(long_mask), "8160");
  EXPECT_EQ(cpu_list_of_mask(long_mask + ",0"), "");
}

}  // namespace
}  // namespace chipweave::codec
