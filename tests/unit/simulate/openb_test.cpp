// A published trace of a production cluster, which is not part of the repository.
#include <gtest/gtest.h>

#include "common/codec/trace/trace_csv.hpp"
#include "common/solver/simulate/bounds.hpp"
#include "common/solver/simulate/summary.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/simulate/small_cluster.hpp"

namespace chipweave::simulate {
namespace {

TEST(Openb, ChipweaveGivesMoreBandwidthThanOthersAndFragmentsNoMore) {
  const auto nodes_csv = chipweave::test::file_content(
      chipweave::test::shared_data_path("traces/openb_node_list_gpu_node.csv"));
  const auto pods_csv = chipweave::test::file_content(
      chipweave::test::shared_data_path("traces/openb_pod_list_multigpu50.csv"));
  if (!nodes_csv || !pods_csv) GTEST_SKIP() << "no shared data";
  const auto nodes = codec::read_node_trace(*nodes_csv);
  auto trace = codec::read_pod_trace(*pods_csv);
  ASSERT_TRUE(nodes.ok() && trace.ok());
  EXPECT_EQ(nodes->size(), 1213U);
  EXPECT_EQ(trace->pods.size(), 9061U);
  EXPECT_FALSE(trace->timed);
  // Machines of eight chips, one in ten of them with NVSwitch, and without a lack of CPU, which
  // FGD sees and chipweave does not.
  const auto plain = test::machine("pcie-8");
  const auto fast = test::machine("hgx-h100-8");
  std::vector<ModelNode> boxes;
  for (int i = 0; i < 100; ++i) boxes.push_back(test::node("n", i % 10 == 0 ? fast : plain));
  for (domain::TracePod& pod : trace->pods) pod.cpu_milli = pod.memory_mib = 0;
  const ModelCluster cluster(boxes);
  const auto arrivals = inflated(trace->pods, {cluster.chips(), 1, 10000, 1});
  const auto mix = request_mix(trace->pods);
  const Workload workload{trace->pods, arrivals, mix, false};
  const auto alone = alone_gbps(trace->pods, cluster);
  const auto summary = [&](std::string_view policy) {
    return summary_of(workload, replay(workload, cluster, test::policy(policy), {}), alone,
                      cluster);
  };
  const Summary ours = summary("chipweave");
  for (const char* other : {"first-fit", "best-fit", "pair-sum", "spread", "fgd"}) {
    const Summary theirs = summary(other);
    EXPECT_GT(ours.of_alone, theirs.of_alone) << other;
    EXPECT_LE(ours.fragmented.at_end, theirs.fragmented.at_end + 0.002) << other;
    EXPECT_GE(ours.allocated.at_end, theirs.allocated.at_end - 0.005) << other;
  }
}

}  // namespace
}  // namespace chipweave::simulate
