// Each reason for which a run is refused, and what is measured in one that is not.
#include "common/solver/calibration/run_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/calibration/collective_log.hpp"
#include "tests/unit/calibration/log_text.hpp"

namespace chipweave::solver {
namespace {

using test::HcclLog;
using test::machine;
using test::NcclLog;
using testing::ElementsAre;
using testing::HasSubstr;

Result<MeasuredRun> measured(const std::string& log, const char* profile = "hgx-a100-8",
                             const RunFacts& facts = {}) {
  return measured_run(codec::read_nccl_tests(log).value().front(), machine(profile), facts);
}

std::string refusal(const std::string& log, const char* profile = "hgx-a100-8",
                    const RunFacts& facts = {}) {
  const auto run = measured(log, profile, facts);
  return run ? "accepted" : run.error().text();
}

TEST(RunCheck, TakesTheMedianOfTheSizesThatHaveLevelledOff) {
  const auto run = measured(NcclLog{}.text());
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_EQ(run->collective, "all_reduce");  // only all_reduce has this factor, no root and an op
  EXPECT_EQ(run->chips, domain::ChipSet::first(8));
  EXPECT_DOUBLE_EQ(run->busbw, 232);
  EXPECT_THAT(run->sizes,
              ElementsAre(512ULL << 20U, 1ULL << 30U, 2ULL << 30U, 4ULL << 30U, 8ULL << 30U));
  EXPECT_TRUE(run->checked);
}

TEST(RunCheck, AveragesOutOfPlaceAndInPlace) {
  NcclLog log;
  log.in_place = 0.98;
  EXPECT_NEAR(measured(log.text()).value().busbw, 232 * 0.99, 0.01);
}

TEST(RunCheck, RefusesWrongResults) {
  NcclLog wrong;
  wrong.wrong = 3;
  EXPECT_THAT(refusal(wrong.text()), HasSubstr("line 22: results are wrong (#wrong"));
  NcclLog bounds;
  bounds.out_of_bounds = 50;
  EXPECT_THAT(refusal(bounds.text()), HasSubstr("50 values are out of bounds"));
}

TEST(RunCheck, RefusesTablesThatAreCut) {
  NcclLog open;
  open.ends = false;
  EXPECT_THAT(refusal(open.text()),
              HasSubstr("the table is cut: the line \"# Avg bus bandwidth\""));
  NcclLog empty;
  empty.sizes = 0;
  EXPECT_THAT(refusal(empty.text()), HasSubstr("the table is cut: it has no rows"));
  std::string gap = NcclLog{}.text();
  const std::size_t row = gap.find("   134217728");
  gap.erase(row, gap.find('\n', row) + 1 - row);
  EXPECT_THAT(refusal(gap), HasSubstr("rows are missing: they average"));
}

TEST(RunCheck, RefusesRanksOfSeveralNodes) {
  NcclLog log;
  log.other_host = "node-b";
  EXPECT_THAT(refusal(log.text()), HasSubstr("the run crosses nodes (node-a, node-b)"));
}

TEST(RunCheck, RefusesProcessesThatDidNotJoin) {
  std::string log = NcclLog{}.text();
  log.replace(log.find("Rank  1"), 7, "Rank  0");
  EXPECT_THAT(refusal(log), HasSubstr("rank 0 appears twice"));
}

TEST(RunCheck, RefusesMixedRankCounts) {
  NcclLog four;
  four.ranks = 4;
  const auto runs = codec::read_nccl_tests(NcclLog{}.text() + four.text()).value();
  const auto mixed = check_one_rank_count(runs);
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.error().text(), HasSubstr("mixes runs of 8 ranks (line 1) and of 4 (line 26)"));
  EXPECT_TRUE(check_one_rank_count({runs[0], runs[0]}).ok());
}

TEST(RunCheck, RefusesTooFewLargeSizes) {
  NcclLog small;
  small.least = 8U << 20U;
  small.sizes = 6;  // up to 256 MiB
  EXPECT_THAT(refusal(small.text()), HasSubstr("too few large sizes: 2 of 128 MiB or more"));
}

TEST(RunCheck, RefusesColumnsThatDiffer) {
  NcclLog log;
  log.in_place = 0.94;
  EXPECT_THAT(refusal(log.text()), HasSubstr("differ by 6.00 %, more than 5.00 %"));
  EXPECT_THAT(refusal(log.text()), HasSubstr("line 16"));
}

TEST(RunCheck, RefusesRowsOfOneSizeThatDiffer) {
  // a second, faster table without a header, as several cycles print it
  NcclLog fast;
  fast.busbw = 250;
  fast.ends = false;
  NcclLog log;
  std::string text = log.text();
  text.insert(text.find("   134217728"), fast.table());
  text.replace(text.find("# Avg bus bandwidth"), std::string::npos,
               "# Avg bus bandwidth    : 230.2\n");
  EXPECT_THAT(refusal(text), HasSubstr("rows of 134217728 bytes differ by 7.20 %"));
}

TEST(RunCheck, RefusesBandwidthThatStillRisesOrFallsAtTheEnd) {
  NcclLog rising;
  rising.reaches = false;
  rising.sizes = 3;
  EXPECT_THAT(refusal(rising.text()), HasSubstr("still rises at the largest size, 512 MiB"));
  // the largest size alone is slower
  NcclLog slow;
  slow.busbw = 180;
  NcclLog level;
  std::string text = level.text();
  std::string rows = level.table();
  const std::string other = slow.table();
  rows.replace(
      rows.find("  8589934592"),
      rows.find('\n', rows.find("  8589934592")) - rows.find("  8589934592"),
      other.substr(other.find("  8589934592"),
                   other.find('\n', other.find("  8589934592")) - other.find("  8589934592")));
  rows.replace(rows.find("# Avg bus bandwidth"), std::string::npos,
               "# Avg bus bandwidth    : 213.64\n");
  text.replace(text.find("   134217728"), std::string::npos, rows);
  EXPECT_THAT(refusal(text), HasSubstr("falls from 232.00 to 180.00 GB/s at the largest size"));
}

TEST(RunCheck, RefusesRunsOfOneSetThatDiffer) {
  NcclLog slow;
  slow.busbw = 210;
  const domain::NodeTopology a100 = machine("hgx-a100-8");
  const MeasuredRun first = measured(NcclLog{}.text()).value();
  const MeasuredRun second = measured(slow.text()).value();
  EXPECT_TRUE(check_repeated({first, first}, a100).ok());
  const auto differ = check_repeated({first, second}, a100);
  ASSERT_FALSE(differ.ok());
  EXPECT_THAT(differ.error().text(),
              HasSubstr("runs of all_reduce over chips 0,1,2,3,4,5,6,7 gave 210.00 and 232.00"));
}

TEST(RunCheck, RefusesFactorsOfOtherCollectives) {
  NcclLog log;
  log.program = "all_gather_perf";
  EXPECT_THAT(refusal(log.text()), HasSubstr("busbw 185.60 is not algbw 106.06 times 0.88, the "
                                             "factor of all_gather over 8 ranks"));
}

TEST(RunCheck, RefusesBandwidthThatDoesNotFollowFromTheTime) {
  std::string log = NcclLog{}.text();
  // 8 GiB: ten times as long
  const std::size_t at = log.find(" 64794");
  ASSERT_NE(at, std::string::npos);
  log.replace(at, 6, " 647940");
  EXPECT_THAT(refusal(log), HasSubstr("algbw 132.57 does not follow from 8589934592 bytes"));
}

TEST(RunCheck, AsksForCollectivesThatTheLogDoesNotName) {
  NcclLog gather;
  gather.redop = "none";
  gather.factor = 7.0 / 8;  // alltoall has the same
  EXPECT_THAT(refusal(gather.text()), HasSubstr("does not name its collective: add --collective"));
  RunFacts facts;
  facts.collective = "all_gather";
  EXPECT_EQ(measured(gather.text(), "hgx-a100-8", facts).value().collective, "all_gather");
  NcclLog scatter;
  scatter.factor = 7.0 / 8;
  EXPECT_EQ(measured(scatter.text()).value().collective, "reduce_scatter");
  NcclLog named;
  named.program = "all_reduce_perf";
  EXPECT_THAT(refusal(named.text(), "hgx-a100-8", facts),
              HasSubstr("the log is of all_reduce, --collective says all_gather"));
}

TEST(RunCheck, RefusesCollectivesThatAreNoRings) {
  NcclLog log;
  log.program = "alltoall_perf";
  EXPECT_THAT(refusal(log.text()),
              HasSubstr("\"alltoall\" is not predicted by the model of rings"));
}

TEST(RunCheck, RefusesDevicesOfAnotherMachine) {
  EXPECT_THAT(refusal(NcclLog{}.text(), "hgx-h100-8"),
              HasSubstr("device 0 is \"NVIDIA A100-SXM4-40GB\", the machine has \"H100-SXM5\""));
  EXPECT_THAT(refusal(NcclLog{}.text(), "pcie-8"), HasSubstr("the machine has \"A100-PCIE\""));
  NcclLog many;
  many.ranks = 16;
  EXPECT_THAT(refusal(many.text()), HasSubstr("16 ranks, the machine has 8 chips"));
}

TEST(RunCheck, RefusesAlgorithmsThatAreNoRings) {
  NcclLog log;
  for (const char* algorithm : {"NVLS", "Tree", "ring,tree", "CollnetDirect"}) {
    log.inside =
        std::string("a:1:1 [0] NCCL INFO NCCL_ALGO set by environment to ") + algorithm + "\n";
    EXPECT_THAT(refusal(log.text()), HasSubstr("which is not a ring")) << algorithm;
  }
  log.inside = "NCCL INFO AllReduce: 1073741824 Bytes -> Algo NVLS proto SIMPLE\n";
  EXPECT_THAT(refusal(log.text()), HasSubstr("the algorithm \"NVLS\", which is not a ring"));
}

// Hopper and later may add up in the switch; a log that does not say is not taken.
TEST(RunCheck, RefusesAllReduceThatMayHaveUsedTheSwitch) {
  NcclLog log;
  log.device = "NVIDIA H100 80GB HBM3";
  log.busbw = 365;
  EXPECT_THAT(refusal(log.text(), "hgx-h100-8"),
              HasSubstr("may have reduced in the switch (NVLS)"));
  RunFacts ring;
  ring.ring = true;
  EXPECT_EQ(refusal(log.text(), "hgx-h100-8", ring), "accepted");
  for (const char* stated : {"NCCL_ALGO set by environment to Ring", "NCCL_ALGO=^NVLS,NVLSTree",
                             "NCCL_NVLS_ENABLE set by environment to 0"}) {
    log.inside = std::string("a:1:1 [0] NCCL INFO ") + stated + "\n";
    EXPECT_EQ(refusal(log.text(), "hgx-h100-8"), "accepted") << stated;
  }
  log.inside.clear();
  log.ranks = 2;  // the library does not use it for two
  EXPECT_EQ(refusal(log.text(), "hgx-h100-8"), "accepted");
  NcclLog scatter;
  scatter.device = log.device;
  scatter.factor = 7.0 / 8;
  EXPECT_EQ(refusal(scatter.text(), "hgx-h100-8"), "accepted");
}

// Device numbers depend on CUDA_VISIBLE_DEVICES.
TEST(RunCheck, FindsChipsWhereTheSetMatters) {
  NcclLog log;
  log.device = "Tesla V100-SXM2-16GB";
  log.ranks = 4;
  EXPECT_THAT(refusal(log.text(), "hgx-v100-8"),
              HasSubstr("which 4 of 8 chips took part is not certain"));
  RunFacts facts;
  facts.chips = {4, 5, 6, 7};
  const auto stated = measured(log.text(), "hgx-v100-8", facts);
  ASSERT_TRUE(stated.ok()) << stated.error().text();
  EXPECT_EQ(stated->chips, (domain::ChipSet{4, 5, 6, 7}));
  facts.chips = {0, 1};
  EXPECT_THAT(refusal(log.text(), "hgx-v100-8", facts), HasSubstr("--chips: 2 chips for 4 ranks"));
  facts.chips = {0, 1, 2, 9};
  EXPECT_THAT(refusal(log.text(), "hgx-v100-8", facts), HasSubstr("the machine has no chip 9"));
}

TEST(RunCheck, FindsChipsByTheirAddresses) {
  const domain::NodeTopology pair = codec::import_topology_json(
                                        R"({"vendor":"nvidia","model":"A100-PCIE","chips":[
              {"index":0,"pci":"0000:20:00.0"},{"index":1,"pci":"00000000:30:00.0"},
              {"index":2,"pci":"0000:10:00.0"}]})",
                                        {})
                                        .value()
                                        .topology;
  NcclLog log;
  log.device = "NVIDIA A100-PCIE-40GB";
  log.ranks = 2;  // at 10 and 20
  log.busbw = 10;
  const auto run = measured_run(codec::read_nccl_tests(log.text()).value().front(), pair, {});
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_EQ(run->chips, (domain::ChipSet{0, 2}));
  EXPECT_EQ(run->chips_from, "PCI addresses");
  log.ranks = 3;
  std::string elsewhere = log.text();
  elsewhere.replace(elsewhere.find("0000:30:00"), 10, "0000:41:00");
  const auto refused = measured_run(codec::read_nccl_tests(elsewhere).value().front(), pair, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(), HasSubstr("rank 2 is at \"0000:41:00\""));
}

TEST(RunCheck, ComputesTheBusBandwidthOfHcclTest) {
  const domain::NodeTopology atlas = machine("ascend-910b-8");
  HcclLog log;
  const auto run = [&](const RunFacts& facts) {
    return measured_run(codec::read_hccl_test(log.text()).value().front(), atlas, facts);
  };
  EXPECT_THAT(run({}).error().text(), HasSubstr("does not say how many chips took part"));
  RunFacts facts;
  facts.chips = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(run(facts).error().text(), HasSubstr("add --collective"));
  facts.collective = "all_reduce";
  EXPECT_NEAR(run(facts).value().busbw, 150, 0.01);
  log.before = "mpirun -n 8 ./bin/all_reduce_test -p 8 -b 128M -e 2G -f 2\n";
  EXPECT_NEAR(run({}).value().busbw, 150, 0.01);
  log.check = "NULL";
  EXPECT_FALSE(run({}).value().checked);
  log.before = "mpirun -n 16 ./bin/all_reduce_test -p 8 -b 128M -e 2G -f 2\n";
  EXPECT_THAT(run({}).error().text(), HasSubstr("the run crosses nodes"));
  std::string cut = log.text();
  cut.erase(cut.find("2147483648  "));
  EXPECT_THAT(measured_run(codec::read_hccl_test(cut).value().front(), atlas, {}).error().text(),
              HasSubstr("the table is cut: the last row is of 1073741824 bytes"));
}

TEST(RunCheck, ComparesModelsByTheirTable) {
  EXPECT_TRUE(same_model("NVIDIA A100-SXM4-40GB", "A100-SXM4"));
  EXPECT_TRUE(same_model("NVIDIA H100 80GB HBM3", "H100-SXM5"));
  EXPECT_TRUE(same_model("AMD Instinct MI300X", "MI300X"));
  EXPECT_FALSE(same_model("NVIDIA H200", "H20"));
  EXPECT_FALSE(same_model("NVIDIA A100-PCIE-40GB", "A100-SXM4"));
  EXPECT_FALSE(same_model("Frobnicator 9", "A100-SXM4"));
  EXPECT_TRUE(same_model("Vendor Frobnicator 9", "frobnicator 9"));
}

}  // namespace
}  // namespace chipweave::solver
