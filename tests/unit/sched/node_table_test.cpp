// What the node table keeps of nodes that changed or went away.
#include "scheduler-plugin/state/node_table.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

TEST(NodeTables, KeepNoResourcesThatNoNodeHas) {
  World w;
  w.add_node("n1", "hgx-v100-8", {"nvidia.com/gpu"});
  w.add_node("n2", "hgx-v100-8", {"nvidia.com/gpu"});
  const auto a = w.submit("a", 8);
  ASSERT_TRUE(w.bind(a, "n2").ok());
  for (int i = 0; i < 100; ++i) {
    const std::string resource = "nvidia.com/gpu-" + std::to_string(i);
    w.add_node("n1", "hgx-v100-8", {resource});
    const auto pod = w.submit("p" + std::to_string(i), 1, resource);
    EXPECT_EQ(w.fit(pod), std::set<std::string>{"n1"});
    ASSERT_TRUE(w.cluster.end(pod.key).ok());
  }
  EXPECT_LE(w.scheduler.nodes().resource_sets(), 3U);
  w.scheduler.inventory_gone("n1");
  w.add_node("n1", "hgx-v100-8", {"nvidia.com/gpu"});
  EXPECT_EQ(w.fit(w.submit("b", 8)), std::set<std::string>{"n1"});
  EXPECT_LE(w.scheduler.nodes().resource_sets(), 3U);
  w.expect_sound();
}

}  // namespace
}  // namespace chipweave::sched::test
