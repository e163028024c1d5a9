#include "common/codec/ascend/hccn/hccn_dev_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPorts =
    "+---------+---------+\n"
    "| UDie ID | Port ID | Link Status | Port Type | Speed Ability(Gbps) |\n"
    "+---------+---------+\n";

std::string with_row(const std::string& row) { return kPorts + row + "\n"; }

TEST(HccnDevInfo, ColumnsAreFoundByTheirHeadings) {
  const auto ports = parse_hccn_dev_info(with_row("| 1 | 4 | DOWN | UB | 400 |"));
  ASSERT_TRUE(ports.ok()) << ports.error().text();
  ASSERT_THAT(*ports, SizeIs(1));
  EXPECT_EQ(ports->front().port, 4);
  EXPECT_FALSE(ports->front().up);
}

TEST(HccnDevInfo, ARealOneIsRead) {
  const auto file = shared_file("ascend/rt_hccn_tool_dev_info_950.txt");
  const auto all = shared_file("ascend/hccn_tool_950.txt");
  if (!file || !all) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  // The second file also contains the output of other commands.
  for (const std::string& text : {*file, *all}) {
    const auto ports = parse_hccn_dev_info(text);
    ASSERT_TRUE(ports.ok()) << ports.error().text();
    ASSERT_THAT(*ports, SizeIs(3));
    EXPECT_EQ(ports->back().port, 6);
    EXPECT_TRUE(ports->back().up);
  }
}

TEST(HccnDevInfo, WrongCellsNameTheirLine) {
  const auto error = [](const std::string& row) {
    const auto ports = parse_hccn_dev_info(with_row(row));
    return ports.ok() ? "(no error)" : ports.error().text();
  };
  EXPECT_EQ(error("| 0 | -4 | UP | UB | 400 |"), "line 4: expected a port, got \"-4\"");
  EXPECT_EQ(error("| 0 | 4 | UPPER | UB | 400 |"), "line 4: expected UP or DOWN, got \"UPPER\"");
  EXPECT_EQ(error("| 0 |"), "line 4: expected a port, got \"\"");
}

TEST(HccnDevInfo, OtherTablesArePassedOver) {
  for (const std::string other :
       {"\n+---+\n| NPU | UDie | Port |", "| Interface Name | IP Address |",
        "| Name | EID Index | EID |"}) {
    const auto ports = parse_hccn_dev_info(with_row("| 0 | 4 | UP | UB | 400 |") + other +
                                           "\n+---+\n| 0 | 0 | nonsense |\n");
    ASSERT_TRUE(ports.ok()) << ports.error().text();
    EXPECT_THAT(*ports, SizeIs(1)) << other;
  }
  EXPECT_THAT(*parse_hccn_dev_info(kPorts), IsEmpty());
}

TEST(HccnDevInfo, WhatIsNoAnswerIsAnError) {
  EXPECT_EQ(parse_hccn_dev_info("hccn_tool is busy, please try again.\n").error().code,
            Errc::unavailable);
  EXPECT_EQ(parse_hccn_dev_info("").error().code, Errc::invalid_argument);
  EXPECT_EQ(parse_hccn_dev_info(std::string(kMaxHccnToolBytes + 1, '|')).error().code,
            Errc::limit_exceeded);
  std::string rows = kPorts;
  for (int i = 0; i < 4097; ++i) rows += "| 0 | 4 | UP | UB | 1 |\n";
  EXPECT_EQ(parse_hccn_dev_info(rows).error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::codec::ascend
