// What is read from the output of hccl_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/calibration/collective_log.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::codec {
namespace {

using test::HcclLog;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string hccl_refusal(const std::string& log) {
  const auto runs = read_hccl_test(log);
  return runs ? "accepted" : runs.error().text();
}

TEST(HcclLogs, SayRowsAndWhatTheCommandLineSays) {
  HcclLog log;
  log.before =
      "HCCL_TEST_USE_DEVS=0,1,2,3 mpirun -n 4 ./bin/all_reduce_test -p 4 -b 128M -e 2G -f 2 -n "
      "20\n";
  const auto runs = read_hccl_test(log.text());
  ASSERT_TRUE(runs.ok()) << runs.error().text();
  ASSERT_THAT(*runs, SizeIs(1));
  const domain::CollectiveRun& run = runs->front();
  EXPECT_EQ(run.collective, "all_reduce");
  EXPECT_EQ(run.ranks, 4);  // not 20, the iterations
  EXPECT_EQ(run.ranks_per_node, 4);
  EXPECT_THAT(run.chips, ElementsAre(0, 1, 2, 3));
  ASSERT_THAT(run.rows, SizeIs(5));
  EXPECT_EQ(run.rows[4].bytes, 2ULL << 30U);
  EXPECT_EQ(run.rows[4].wrong, 0U);
  EXPECT_FALSE(run.rows[4].out_of_place.busbw.has_value());
  EXPECT_EQ(run.incomplete, "");
}

TEST(HcclLogs, ColumnsMayBeSpelledAndOrderedOtherwise) {
  const auto runs = read_hccl_test(
      "check_result | data_size(Bytes) | avg_time(us) | alg_bandwidth(GB/s)\n"
      "NULL | 1024 | 10.24 | 0.10000\n");
  ASSERT_TRUE(runs.ok()) << runs.error().text();
  EXPECT_EQ(runs->front().rows[0].bytes, 1024U);
  EXPECT_EQ(runs->front().rows[0].wrong, std::nullopt);
}

TEST(HcclLogs, FailedChecksAreWrongValues) {
  HcclLog log;
  log.check = "failed";
  EXPECT_EQ(read_hccl_test(log.text()).value().front().rows[0].wrong, 1U);
}

TEST(HcclLogs, KnowWhetherTheyReachedTheirLargestSize) {
  const std::string whole = HcclLog{}.text();
  const std::string cut = whole.substr(0, whole.find("2147483648  "));
  EXPECT_THAT(read_hccl_test(cut).value().front().incomplete,
              HasSubstr("the last row is of 1073741824 bytes, the run was to reach 2147483648"));
}

TEST(HcclLogs, ThatAreNoneAreRefusedWithTheLine) {
  EXPECT_THAT(hccl_refusal("hello\n"), HasSubstr("no table of hccl_test found"));
  const std::string good = HcclLog{}.text();
  EXPECT_THAT(hccl_refusal(good.substr(0, good.find("success"))),
              HasSubstr("line 3: check_result: expected success, failed or NULL"));
  EXPECT_THAT(hccl_refusal(good + "4294967296 | 12\n"), HasSubstr("line 8: expected 4 columns"));
  EXPECT_THAT(hccl_refusal(good + "4294967296 | fast | 1 | success\n"),
              HasSubstr("line 8: time: expected a number, got \"fast\""));
  EXPECT_THAT(hccl_refusal("data_size(Bytes): | speed\n"), HasSubstr("unknown column \"speed\""));
}

}  // namespace
}  // namespace chipweave::codec
