// Network with the labels of nodes: levels, places, and the fabrics that follow the node table.
#include "scheduler-plugin/state/network/network.hpp"

#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "tests/unit/sched_network/network_world.hpp"

namespace chipweave::sched::test {
namespace {

TEST(NetworkLevels, AreTheNodeAloneWithoutAnySource) {
  NetworkWorld w;
  w.report("n1");
  EXPECT_EQ(w.network.levels(), Names{kHost});
  EXPECT_EQ(w.network.level_of(kHost), 0);
  EXPECT_EQ(w.network.level_of("rack"), std::nullopt);
  EXPECT_EQ(w.network.path_of("n1"), Names{"n1"});
  EXPECT_EQ(w.network.path_of("n2"), Names{});
  EXPECT_EQ(w.network.fabric(kGpu).size(), 1U);
  EXPECT_EQ(w.network.without_place(), 0U) << "there is no level that could know it";
}

TEST(NetworkLevels, AreTheLabelsOfTheFamilyThatMostNodesHave) {
  NetworkWorld w;
  w.add("n1", "l1", "l2");
  w.add("n2", "l1", "l3");
  w.report("n3");
  w.network.set_labels("n3", {{"oci.oraclecloud.com/host.rack_id", "r1"},
                              {"topology.kubernetes.io/zone", "z1"},
                              {"something.else", "x"}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kHost}));
  EXPECT_EQ(w.network.level_of(kAwsLayer2), 1);
  EXPECT_EQ(w.network.path_of("n2"), (Names{"l1", "l3", "n2"}));
  EXPECT_EQ(w.network.path_of("n3"), (Names{"", "", "n3"})) << "its family is not the one in use";
  EXPECT_EQ(w.network.without_place(), 1U);
  EXPECT_EQ(w.network.domains(0), 1U);
  EXPECT_EQ(w.network.domains(1), 2U);
  // the majority turns
  for (const char* node : {"n1", "n2"})
    w.network.set_labels(node, {{"oci.oraclecloud.com/host.rack_id", "r2"}});
  EXPECT_EQ(w.network.levels(), (Names{"oci.oraclecloud.com/host.rack_id", kHost}));
  EXPECT_EQ(w.network.path_of("n3"), (Names{"r1", "n3"}));
  EXPECT_EQ(w.network.without_place(), 0U);
}

TEST(NetworkLevels, OfZonesCountOnlyWhereNothingFinerIsKnown) {
  NetworkWorld w;
  for (const char* node : {"n1", "n2"}) {
    w.report(node);
    w.network.set_labels(node, {{"topology.kubernetes.io/zone", "z1"}});
  }
  EXPECT_EQ(w.network.levels(), (Names{"topology.kubernetes.io/zone", kHost}));
  w.network.set_labels("n1", {{kAwsLayer2, "l2"}, {"topology.kubernetes.io/zone", "z1"}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer2, kHost})) << "though fewer nodes have it";
}

TEST(NetworkLevels, OfTopographHaveNoFixedDepth) {
  NetworkWorld w;
  w.report("n1");
  w.network.set_labels("n1", {{"fabric.topograph.run/tier-10", "core"},
                              {"fabric.topograph.run/tier-2", "spine"},
                              {"fabric.topograph.run/tier-0", "leaf"}});
  EXPECT_EQ(w.network.path_of("n1"), (Names{"core", "spine", "leaf", "n1"}));
}

TEST(NetworkLevels, MayBeConfigured) {
  NetworkWorld w({{NetworkSource::labels}, {"example.com/row", "example.com/rack", kHost}});
  w.report("n1");
  w.network.set_labels("n1", {{"example.com/rack", "r1"}, {kAwsLayer1, "l1"}});
  EXPECT_EQ(w.network.levels(), (Names{"example.com/row", "example.com/rack", kHost}));
  EXPECT_EQ(w.network.path_of("n1"), (Names{"", "r1", "n1"}));
}

TEST(NetworkFabrics, HoldTheNodesThatOfferTheResourceWithTheirUsableChips) {
  NetworkWorld w;
  w.add("n1", "l1", "l2");
  w.report("npu", {"huawei.com/Ascend910"});
  w.report("sick", {kGpu},
           {{0, domain::Health::unhealthy},
            {1, domain::Health::network_unhealthy},
            {2, domain::Health::network_unhealthy}});
  solver::Fabric& fabric = w.network.fabric(kGpu);
  EXPECT_EQ(fabric.size(), 2U);
  EXPECT_EQ(w.in_fabric("n1").free, 8);
  EXPECT_EQ(w.in_fabric("sick").free, 5);
  EXPECT_TRUE(w.in_fabric("sick").healthy);
  EXPECT_EQ(w.network.fabric("huawei.com/Ascend910").size(), 1U);
  // what pods take
  const NodeId n1 = w.nodes.find("n1");
  w.nodes.set_taken(n1, ChipSet::first(3), 1);
  EXPECT_EQ(w.in_fabric("n1").free, 5);
  w.nodes.set_stale(n1, true);
  EXPECT_FALSE(w.in_fabric("n1").healthy);
  w.nodes.set_stale(n1, false);
  EXPECT_TRUE(w.in_fabric("n1").healthy);
  w.report("n1", {"nvidia.com/other"});
  w.network.fabric(kGpu);
  EXPECT_EQ(fabric.find("n1"), solver::kNowhere) << "it offers something else now";
  EXPECT_EQ(w.network.fabric("nvidia.com/other").size(), 1U);
}

TEST(NetworkFabrics, LoseNodesThatLeaveTheTable) {
  NetworkWorld w;
  w.add("n1", "l1", "l2");
  w.add("n2", "l1", "l2");
  EXPECT_EQ(w.network.fabric(kGpu).size(), 2U);
  const std::uint64_t before = w.network.version();
  w.nodes.remove(w.nodes.find("n1"));
  EXPECT_EQ(w.network.fabric(kGpu).size(), 1U);
  EXPECT_EQ(w.network.path_of("n1"), Names{});
  EXPECT_GT(w.network.version(), before);
  w.report("n1");
  EXPECT_EQ(w.network.path_of("n1"), (Names{"l1", "l2", "n1"})) << "its labels are still there";
}

// The table reuses the numbers of nodes, also with the names of others.
TEST(NetworkFabrics, KnowNodesByNameWhenTheTableReusesNumbers) {
  NetworkWorld w;
  for (std::size_t i = 0; i < limits::kMaxNodes; ++i) w.report("n" + std::to_string(i));
  w.network.set_labels("n7", {{kAwsLayer1, "old"}});
  w.network.set_labels("fresh", {{kAwsLayer1, "new"}});
  w.network.set_inventory("n7", {{}, {}, "super-pod 7"});
  w.settle();
  EXPECT_EQ(w.network.path_of("n7").front(), "old");
  w.nodes.set_stale(w.nodes.find("n7"), true);
  w.report("fresh");  // in its place
  EXPECT_EQ(w.network.path_of("n7"), Names{});
  EXPECT_EQ(w.network.path_of("fresh").front(), "new");
  EXPECT_EQ(w.network.fabric(kGpu).find("n7"), solver::kNowhere);
  w.nodes.set_stale(w.nodes.find("n8"), true);
  w.report("n7");
  EXPECT_EQ(w.network.path_of("n7").front(), "old");
  EXPECT_NE(w.network.fabric(kGpu).find("n7"), solver::kNowhere);
  EXPECT_EQ(w.network.fabric(kGpu).size(), limits::kMaxNodes);
}

class OneOfMany : public ::testing::Test {
 protected:
  OneOfMany() {
    for (int i = 0; i < 1000; ++i)
      w.add("n" + std::to_string(i), "b" + std::to_string(i / 100), "r" + std::to_string(i / 10));
    w.settle();
    w.network.fabric(kGpu);
    placements = w.network.placements();
    version = w.network.version();
  }
  NetworkWorld w;
  std::uint64_t placements = 0;
  std::uint64_t version = 0;
};

TEST_F(OneOfMany, IsPlacedAloneWhenItsLabelsChange) {
  w.network.set_labels("n5", {{kAwsLayer1, "b9"}, {kAwsLayer2, "r5"}});
  EXPECT_EQ(w.network.path_of("n5"), (Names{"b9", "r5", "n5"}));
  EXPECT_EQ(w.network.placements(), placements + 1);
  EXPECT_GT(w.network.version(), version);
  EXPECT_EQ(picture_of(w.network).nodes.at("n5").first, (Names{"b9", "r5", "n5"}));
}

TEST_F(OneOfMany, IsNotPlacedAgainWhenItsChipsChange) {
  w.nodes.set_taken(w.nodes.find("n5"), ChipSet::first(8), 1);
  EXPECT_EQ(w.in_fabric("n5").free, 0);
  EXPECT_EQ(w.network.placements(), placements);
  EXPECT_EQ(w.network.version(), version);
}

TEST_F(OneOfMany, IsNotPlacedAgainForOtherLabels) {
  w.network.set_labels(
      "n5", {{kAwsLayer1, "b0"}, {kAwsLayer2, "r0"}, {"topology.kubernetes.io/zone", "z"}});
  EXPECT_EQ(w.network.path_of("n5"), (Names{"b0", "r0", "n5"}));
  EXPECT_EQ(w.network.placements(), placements);
  EXPECT_EQ(w.network.version(), version);
}

TEST_F(OneOfMany, MakesAllBePlacedAgainAtMostOnceAWhile) {
  const Names before = w.network.levels();
  w.network.set_labels("n5", {{"topology.k8s.aws/network-node-layer-3", "x"}});
  const Names after = w.network.levels();
  EXPECT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(w.network.placements(), placements + 1000);
  w.network.set_labels("n5", {{kAwsLayer1, "b0"}, {kAwsLayer2, "r0"}});
  EXPECT_EQ(w.network.levels(), after) << "not again at once";
  EXPECT_EQ(w.network.path_of("n5"), (Names{"b0", "r0", "", "n5"}));
  EXPECT_EQ(w.network.placements(), placements + 1001);
  w.settle();
  EXPECT_EQ(w.network.levels(), before);
  EXPECT_EQ(w.network.path_of("n5"), (Names{"b0", "r0", "n5"}));
}

TEST(HostileLabels, WithAnyByteAreUnknownOrTakenAsTheyAre) {
  NetworkWorld w;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = "n" + std::to_string(byte);
    w.report(name);
    w.network.set_labels(name, {{kAwsLayer1, std::string(2, static_cast<char>(byte))},
                                {kAwsLayer2, "l2"},
                                {kCliqueLabel, std::string(1, static_cast<char>(byte)) + ".7"}});
  }
  w.report("long");
  w.network.set_labels("long", {{kAwsLayer1, std::string(10'000, 'x')}, {kAwsLayer2, "l2"}});
  for (const auto& [name, node] : picture_of(w.network).nodes) {
    for (const std::string& element : node.first) {
      EXPECT_TRUE(element.empty() || is_network_name(element)) << name;
    }
  }
  EXPECT_EQ(w.network.path_of("long").front(), "");
  EXPECT_EQ(w.network.path_of("n7").front(), "") << "a control character";
  EXPECT_EQ(w.network.path_of("n97").front(), "aa");
}

TEST(HostileLabels, OfMoreNodesThanFitAreLeftOutAndReported) {
  NetworkWorld w;
  w.report("n1");
  w.network.set_labels("n1", {{kAwsLayer1, "l1"}});
  for (std::size_t i = 0; i < NodeLabels::kMaxNodes; ++i)
    w.network.set_labels("x" + std::to_string(i), {{kAwsLayer1, "l1"}});
  EXPECT_EQ(w.network.labels().size(), NodeLabels::kMaxNodes);
  EXPECT_NE(w.network.sources().front().problem, "");
  EXPECT_EQ(w.network.path_of("n1").front(), "l1");
  w.network.drop_labels("x1");
  EXPECT_EQ(w.network.sources().front().problem, "");
}

TEST(HostileLabels, OfTooManyLevelsKeepTheFinest) {
  NetworkWorld w;
  NodeLabels::Map labels;
  for (int tier = 0; tier < 100; ++tier)
    labels["fabric.topograph.run/tier-" + std::to_string(tier)] = "t" + std::to_string(tier);
  w.report("n1");
  w.network.set_labels("n1", labels);
  const Names path = w.network.path_of("n1");
  ASSERT_EQ(path.size(), limits::kMaxNetworkLevels);
  EXPECT_EQ(path.front(), "t14");
  EXPECT_EQ(path[14], "t0");
  EXPECT_EQ(w.network.shape().left_out(), 85U);
  w.network.set_labels("n1", {{kAwsLayer1, "l1"}, {kCliqueLabel, "c.1"}});
  EXPECT_EQ(w.network.path_of("n1"), (Names{"l1", "c", "n1"}));
}

TEST(NodeTables, NameEachChangedNodeOnce) {
  NetworkWorld w;
  w.network.fabric(kGpu);
  w.report("n1");
  w.report("n2");
  const NodeId n1 = w.nodes.find("n1");
  w.nodes.set_taken(n1, ChipSet::first(1), 1);
  EXPECT_EQ(w.nodes.take_changed(), (std::vector<NodeId>{n1, w.nodes.find("n2")}));
  EXPECT_TRUE(w.nodes.take_changed().empty());
  w.nodes.set_taken(n1, ChipSet::first(1), 1);
  EXPECT_TRUE(w.nodes.take_changed().empty()) << "nothing changed";
  w.nodes.remove(n1);
  EXPECT_EQ(w.nodes.take_changed(), std::vector<NodeId>{n1});
}

}  // namespace
}  // namespace chipweave::sched::test
