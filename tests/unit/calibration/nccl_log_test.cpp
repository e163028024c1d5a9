// What is read from logs of nccl-tests and rccl-tests of different versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/calibration/collective_log.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::codec {
namespace {

using domain::CollectiveRun;
using test::NcclLog;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CollectiveRun one_run(const std::string& log) {
  auto runs = read_nccl_tests(log);
  if (!runs) {
    ADD_FAILURE() << runs.error().text();
    return {};
  }
  EXPECT_THAT(*runs, SizeIs(1));
  return runs->front();
}

std::string nccl_refusal(const std::string& log) {
  const auto runs = read_nccl_tests(log);
  return runs ? "accepted" : runs.error().text();
}

TEST(NcclLogs, SayDevicesRowsAndEnd) {
  const CollectiveRun run = one_run(NcclLog{}.text());
  EXPECT_EQ(run.ranks, 8);
  ASSERT_THAT(run.devices, SizeIs(8));
  EXPECT_EQ(run.devices[1].rank, 1);
  EXPECT_EQ(run.devices[1].device, 1);
  EXPECT_EQ(run.devices[1].host, "node-a");
  EXPECT_EQ(run.devices[1].pci, "0000:20:00");
  EXPECT_EQ(run.devices[1].name, "NVIDIA A100-SXM4-40GB");
  ASSERT_THAT(run.rows, SizeIs(7));
  EXPECT_EQ(run.rows[6].bytes, 8ULL << 30U);
  EXPECT_DOUBLE_EQ(run.rows[6].out_of_place.busbw.value(), 232);
  EXPECT_DOUBLE_EQ(run.rows[6].in_place.value().busbw.value(), 232);
  EXPECT_EQ(run.rows[6].wrong, 0U);
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.out_of_bounds, 0U);
  EXPECT_TRUE(run.reduces);
  EXPECT_FALSE(run.rooted);
}

// Before 2.13: no "Group", the bus alone, "error" in place of "#wrong", no "root".
TEST(NcclLogs, OfOldVersions) {
  const CollectiveRun run = one_run(
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 "
      "validation: 1 \n#\n# Using devices\n"
      "#   Rank  0 Pid 1821213 on box device  0 [0x07] Tesla V100-SXM2-16GB\n"
      "#   Rank  1 Pid 1821213 on box device  1 [0x8A] Tesla V100-SXM2-16GB\n#\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      "  "
      "busbw  error\n"
      "   134217728      33554432   float     sum   5292.9   25.36   25.36  5e-07   5300.1   25.32 "
      "  "
      "25.32  5e-07\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 25.34\n");
  EXPECT_EQ(run.devices[1].pci, "8a");
  ASSERT_THAT(run.rows, SizeIs(1));
  EXPECT_EQ(run.rows[0].wrong, std::nullopt);
  EXPECT_DOUBLE_EQ(run.rows[0].in_place.value().time_us, 5300.1);
}

TEST(NcclLogs, OfRcclTestsWithVersionsAndMessagesBetween) {
  NcclLog log;
  log.device = "AMD Instinct MI300X";
  log.before = "2025-07-29T10:00:00Z\n";
  log.program = "all_reduce_perf";
  log.inside =
      "rccl-tests: Version develop:83d38d9\nRCCL version : 2.22.3-develop\n"
      "node-a:41187:41187 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n";
  const CollectiveRun run = one_run(log.text());
  EXPECT_EQ(run.tool, "rccl-tests develop:83d38d9");
  EXPECT_EQ(run.library, "RCCL 2.22.3-develop");
  EXPECT_EQ(run.date, "2025-07-29");
  EXPECT_EQ(run.collective, "all_reduce");
}

TEST(NcclLogs, NameTheirCollectiveInACommandLine) {
  NcclLog log;
  log.before = "$ mpirun -np 8 /opt/nccl-tests/build/reduce_scatter_perf_mpi -b 128M -e 8G -f 2\n";
  EXPECT_EQ(one_run(log.text()).collective, "reduce_scatter");
}

TEST(NcclLogs, UnderTagsOfMpirunAndSrun) {
  for (const std::string tag : {"[1,0]<stdout>: ", "0: ", "[1,0]<stdout>:"}) {
    std::string tagged;
    const std::string text = NcclLog{}.text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      tagged += tag + text.substr(at, end - at + 1);
      at = end + 1;
    }
    EXPECT_THAT(one_run(tagged).rows, SizeIs(7)) << tag;
  }
}

TEST(NcclLogs, StateAlgorithms) {
  const auto stated = [](const std::string& inside) {
    NcclLog log;
    log.inside = inside;
    return one_run(log.text()).algorithms;
  };
  EXPECT_THAT(stated(""), IsEmpty());
  EXPECT_THAT(stated("a:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n"),
              ElementsAre("ring"));
  EXPECT_THAT(stated("a:1:1 [0] NCCL INFO NCCL_ALGO set by environment to allreduce:ring,tree\n"),
              ElementsAre("ring", "tree"));
  // small calls may use another algorithm
  EXPECT_THAT(
      stated("NCCL INFO AllReduce: 4096 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}\n"
             "NCCL INFO AllReduce: 268435456 Bytes -> Algo NVLS proto SIMPLE\n"),
      ElementsAre("nvls"));
  EXPECT_THAT(stated("NCCL INFO 268435456 Bytes -> Algo 1 proto 2 time 12.000000\n"),
              ElementsAre("ring"));
}

TEST(NcclLogs, MayHoldSeveralRuns) {
  const auto runs = read_nccl_tests(NcclLog{}.text() + NcclLog{}.text());
  ASSERT_TRUE(runs.ok());
  EXPECT_THAT(*runs, SizeIs(2));
}

TEST(NcclLogs, ThatAreNoneAreRefusedWithTheLine) {
  EXPECT_THAT(nccl_refusal(""), HasSubstr("no run of nccl-tests or rccl-tests found"));
  const std::string good = NcclLog{}.text();
  std::string cut = good;
  cut.replace(cut.find("8589934592    "), 60, "8589934592 ");
  EXPECT_THAT(nccl_refusal(cut),
              HasSubstr("line 22: expected 13 columns as in the header of line 14"));
  std::string odd = good;
  odd.replace(odd.find("232.00"), 6, "232,00");
  EXPECT_THAT(nccl_refusal(odd), HasSubstr("line 18: busbw: expected a number, got \"232,00\""));
  std::string column = good;
  column.replace(column.find("algbw"), 5, "speed");
  EXPECT_THAT(nccl_refusal(column), HasSubstr("line 14: unknown column \"speed\""));
  std::string device = good;
  device.replace(device.find("Rank  3"), 7, "Rank  x");
  EXPECT_THAT(nccl_refusal(device), HasSubstr("line 7: expected \"Rank N"));
}

TEST(NcclLogs, HaveLimits) {
  std::string many;
  for (std::size_t i = 0; i <= kMaxRunsOfLog; ++i) many += NcclLog{}.text();
  EXPECT_THAT(nccl_refusal(many), HasSubstr("more than 256 runs"));
  NcclLog ranks;
  ranks.ranks = static_cast<int>(kMaxRanksOfRun) + 1;
  EXPECT_THAT(nccl_refusal(ranks.text()), HasSubstr("more than 4096 ranks"));
  std::string rows = NcclLog{}.text();
  const std::string row = rows.substr(rows.find("   134217728"), 130);
  rows.insert(rows.find("   134217728"), [&] {
    std::string out;
    for (std::size_t i = 0; i <= kMaxRowsOfRun; ++i) out += row.substr(0, row.find('\n') + 1);
    return out;
  }());
  EXPECT_THAT(nccl_refusal(rows), HasSubstr("more than 4096 rows"));
  EXPECT_THAT(nccl_refusal(std::string(kMaxCollectiveLogBytes + 1, '#')), HasSubstr("64 MiB"));
}

}  // namespace
}  // namespace chipweave::codec
