#include "common/codec/ascend/hccn/hccn_dev_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPorts =
    "+---------+---------+\n"
    "| UDie ID | Port ID | Link Status | Port Type | Speed Ability(Gbps) |\n"
    "+---------+---------+\n";

std::string with_row(const std::string& row) { return kPorts + row + "\n"; }

TEST(HccnDevInfo, ColumnsAreFoundByTheirHeadings) {
  const auto info = parse_hccn_dev_info(with_row("| 1 | 4 | DOWN | UB | 400 |"));
  ASSERT_TRUE(info.ok()) << info.error().text();
  ASSERT_THAT(info->ports, SizeIs(1));
  EXPECT_EQ(info->ports[0].die, 1);
  EXPECT_EQ(info->ports[0].port, 4);
  EXPECT_EQ(info->ports[0].gbps, 400);
  EXPECT_EQ(info->ports[0].type, "UB");
  EXPECT_FALSE(info->ports[0].up);
  EXPECT_EQ(info->ports[0].media, "");
}

TEST(HccnDevInfo, ARealOneIsRead) {
  const auto file = shared_file("ascend/rt_hccn_tool_dev_info_950.txt");
  const auto all = shared_file("ascend/hccn_tool_950.txt");
  if (!file || !all) GTEST_SKIP() << "no shared data";
  // The second file also contains the output of other commands.
  for (const std::string& text : {*file, *all}) {
    const auto info = parse_hccn_dev_info(text);
    ASSERT_TRUE(info.ok()) << info.error().text();
    ASSERT_THAT(info->ports, SizeIs(3));
    EXPECT_EQ(info->ports[2].port, 6);
    EXPECT_EQ(info->ports[2].media, "Electrical");
    EXPECT_TRUE(info->ports[2].up);
    ASSERT_THAT(info->interfaces, SizeIs(2));
    EXPECT_EQ(info->interfaces[0].name, "end0v0");
    EXPECT_THAT(info->interfaces[0].addresses, ElementsAre("192.168.2.199"));
    EXPECT_EQ(info->interfaces[1].name, "ipourma0");
    EXPECT_THAT(info->interfaces[1].addresses, SizeIs(4));
    ASSERT_THAT(info->eids, SizeIs(4));
    EXPECT_EQ(info->eids[3].device, "udma1");
    EXPECT_EQ(info->eids[3].index, 3);
    EXPECT_EQ(info->eids[3].eid, "0000:0000:0000:0000:0010:0000:dfdf:0051");
  }
}

TEST(HccnDevInfo, WrongCellsNameTheirLine) {
  const auto error = [](const std::string& row) {
    const auto info = parse_hccn_dev_info(with_row(row));
    return info.ok() ? "(no error)" : info.error().text();
  };
  EXPECT_EQ(error("| x | 4 | UP | UB | 400 |"), "line 4: expected a port, got \"x\"");
  EXPECT_EQ(error("| 0 | -4 | UP | UB | 400 |"), "line 4: expected a port, got \"-4\"");
  EXPECT_EQ(error("| 0 | 4 | UPPER | UB | 400 |"), "line 4: expected UP or DOWN, got \"UPPER\"");
  EXPECT_THAT(error("| 0 | 4 | UP | " + std::string(200, 'U') + " | 400 |"),
              HasSubstr("expected a shorter cell"));
  EXPECT_EQ(error("| 0 |"), "line 4: expected a port, got \"\"");
  EXPECT_THAT(
      parse_hccn_dev_info("| Interface Name | IP Address |\n| e | 1.2.3 |\n").error().text(),
      HasSubstr("expected an address, got \"1.2.3\""));
  EXPECT_THAT(parse_hccn_dev_info("| Name | EID Index | EID |\n|  | 0 | ::1 |\n").error().text(),
              HasSubstr("expected an EID"));
}

TEST(HccnDevInfo, OtherTablesArePassedOver) {
  const auto info =
      parse_hccn_dev_info(with_row("| 0 | 4 | UP | UB | 400 |") +
                          "\n+---+\n| NPU | UDie | Port |\n+---+\n| 0 | 0 | nonsense |\n");
  ASSERT_TRUE(info.ok()) << info.error().text();
  EXPECT_THAT(info->ports, SizeIs(1));
  EXPECT_THAT(parse_hccn_dev_info(kPorts)->ports, IsEmpty());
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
