// From logs to an overlay: what is written of where it comes from, and what refuses a whole set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/calibrate/calibration.hpp"
#include "cli/calibrate/log_machine.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::cli {
namespace {

using test::machine;
using test::NcclLog;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

ParsedLog parsed_log(const std::string& file, const std::string& content) {
  return parse_log(LogFormat::nccl_tests, {file, content}).value();
}

TEST(Calibration, KeepsWhereItComesFrom) {
  NcclLog log;
  log.before = "2026-03-14\n";
  log.inside = "NCCL version 2.21.5+cuda12.4\n";
  const auto overlay =
      calibrate({parsed_log("a.log", log.text())}, machine("hgx-a100-8"), "box", {});
  ASSERT_TRUE(overlay.ok()) << overlay.error().text();
  EXPECT_EQ(overlay->vendor, "nvidia");
  EXPECT_THAT(overlay->models, ElementsAre("A100-SXM4", "NVIDIA A100-SXM4-40GB"));
  ASSERT_THAT(overlay->logs, SizeIs(1));
  EXPECT_EQ(overlay->logs[0].file, "a.log");
  EXPECT_THAT(overlay->logs[0].sha256, SizeIs(64));
  EXPECT_EQ(overlay->logs[0].date, "2026-03-14");
  EXPECT_EQ(overlay->logs[0].library, "NCCL 2.21.5+cuda12.4");
  ASSERT_THAT(overlay->points, SizeIs(1));
  EXPECT_EQ(overlay->points[0].line, 2U);
  EXPECT_THAT(overlay->points[0].sizes, SizeIs(5));
  EXPECT_DOUBLE_EQ(overlay->points[0].measured, 232);
  EXPECT_DOUBLE_EQ(overlay->points[0].before, 240);
  EXPECT_NEAR(overlay->points[0].after, 232, 0.01);
  EXPECT_TRUE(codec::read_overlay(codec::write_overlay(*overlay), "a.json").ok());
}

TEST(Calibration, RefusesAllLogsTogetherWithEachReason) {
  NcclLog wrong;
  wrong.wrong = 1;
  NcclLog open;
  open.ends = false;
  const auto refused =
      calibrate({parsed_log("a.log", NcclLog{}.text()), parsed_log("b.log", wrong.text()),
                 parsed_log("c.log", open.text())},
                machine("hgx-a100-8"), "box", {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("file b.log: line 22: results are wrong"),
                    HasSubstr("file c.log: run at line 1: the table is cut")));
}

TEST(Calibration, RefusesMachinesThatNoNodeCouldMatch) {
  const auto unnamed = codec::import_topology_json(R"({"vendor":"nvidia","chips":8})", {});
  EXPECT_THAT(calibrate({parsed_log("a.log", NcclLog{}.text())}, unnamed->topology, "box", {})
                  .error()
                  .text(),
              HasSubstr("names no vendor or no model"));
}

TEST(Calibration, RefusesRepeatedRunsThatDiffer) {
  NcclLog slow;
  slow.busbw = 215;
  EXPECT_THAT(calibrate({parsed_log("a.log", NcclLog{}.text()), parsed_log("b.log", slow.text())},
                        machine("hgx-a100-8"), "box", {})
                  .error()
                  .text(),
              HasSubstr("which differ by 7.33 %, more than 5.00 %"));
}

TEST(Calibration, FindsTheMachineOnlyWhereItIsCertain) {
  EXPECT_EQ(machine_of({parsed_log("a.log", NcclLog{}.text())}).value(), "hgx-a100-8");
  NcclLog four;
  four.ranks = 4;
  EXPECT_THAT(machine_of({parsed_log("a.log", four.text())}).error().text(),
              HasSubstr("--machine: required, a profile or topology file: \"NVIDIA "
                        "A100-SXM4-40GB\" is in hgx-a100-4, hgx-a100-8"));
  NcclLog other;
  other.device = "Frobnicator 9";
  EXPECT_THAT(machine_of({parsed_log("a.log", other.text())}).error().text(),
              HasSubstr("no profile has the devices of the logs"));
}

}  // namespace
}  // namespace chipweave::cli
