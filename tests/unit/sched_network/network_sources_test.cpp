// Network with several sources: which of them decides, what contradicts, and where the
// accelerators' own domains are among the levels.
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "tests/unit/sched_network/network_world.hpp"

namespace chipweave::sched::test {
namespace {

using domain::NetworkTable;

Network::Options all_sources() {
  Network::Options out;
  out.sources.clear();
  for (std::size_t i = 0; i < kNetworkSources; ++i)
    out.sources.push_back(static_cast<NetworkSource>(i));
  return out;
}

NetworkTable table(Names levels, const std::map<std::string, Names>& nodes) {
  NetworkTable out;
  out.levels = std::move(levels);
  for (const auto& [name, path] : nodes) out.nodes.push_back({name, path, {}, {}});
  return out;
}

domain::NodeNetwork on_leaves(Names leaves, std::string interconnect = {}) {
  return {leaves, leaves, std::move(interconnect)};
}

TEST(NetworkSources, HaveNamesThatSettingsUse) {
  for (std::size_t i = 0; i < kNetworkSources; ++i) {
    const auto source = static_cast<NetworkSource>(i);
    EXPECT_EQ(network_source_of(name_of(source)), source);
  }
  EXPECT_EQ(network_source_of("hypernode"), std::nullopt);
}

TEST(NetworkSources, InventoriesGroupNodesByTheirLeafSwitches) {
  NetworkWorld w;
  for (const char* node : {"n1", "n2", "n3", "n4"}) w.report(node);
  w.network.set_inventory("n1", on_leaves({"leaf10", "leaf2"}));
  w.network.set_inventory("n2", on_leaves({"leaf10", "leaf2"}));
  w.network.set_inventory("n3", on_leaves({"leaf3", "leaf4"}));
  EXPECT_EQ(w.network.levels(), (Names{"leaf", kHost}));
  EXPECT_EQ(w.network.path_of("n1"), (Names{"leaf2", "n1"}));
  EXPECT_EQ(w.network.path_of("n2"), (Names{"leaf2", "n2"}));
  EXPECT_EQ(w.network.path_of("n3"), (Names{"leaf3", "n3"}));
  EXPECT_EQ(w.network.path_of("n4"), (Names{"", "n4"}));
  ASSERT_NE(w.network.rails_of("n1"), nullptr);
  EXPECT_EQ(*w.network.rails_of("n1"), (Names{"leaf10", "leaf2"}));
  EXPECT_EQ(w.network.rails_of("n4"), nullptr);
  // a NIC is down: one leaf less is still the same unit
  w.network.set_inventory("n2", on_leaves({"leaf10"}));
  EXPECT_EQ(w.network.path_of("n2"), (Names{"leaf2", "n2"}));
  w.network.set_inventory("n2", {});
  EXPECT_EQ(w.network.path_of("n2"), (Names{"", "n2"}));
}

TEST(NetworkSources, TheMoreSpecificNamesTheLevelsAndDecides) {
  NetworkWorld w(all_sources());
  w.add("n1", "l1", "l2");
  w.add("n2", "l1", "l2");
  w.network.set_inventory("n1", on_leaves({"leaf1"}));
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kHost}));
  w.network.name_levels(NetworkSource::koordinator, {{"block", {kAwsLayer1}}});
  EXPECT_EQ(w.network.levels(), (Names{"block", kHost}));
  EXPECT_EQ(w.network.level_of(kAwsLayer1), 0) << "the label that feeds it";
  w.network.name_levels(NetworkSource::kai, {{kAwsLayer2, {kAwsLayer2}}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer2, kHost}));
  w.network.name_levels(NetworkSource::kueue,
                        {{kAwsLayer1, {kAwsLayer1}}, {kAwsLayer2, {kAwsLayer2}}, {kHost, {kHost}}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kHost}));
  w.network.set_table(NetworkSource::hypernodes, table({"tier-1"}, {{"n1", {"s1"}}}));
  EXPECT_EQ(w.network.levels(), (Names{"tier-1", kHost}));
  w.network.set_table(NetworkSource::configmap,
                      table({"row", "server"}, {{"n1", {"row1", "n1"}}, {"n2", {"row2", "n2"}}}));
  EXPECT_EQ(w.network.levels(), (Names{"row", "server"})) << "its last level is the node";
  EXPECT_EQ(w.network.level_of(kHost), 1);
  EXPECT_EQ(w.network.path_of("n2"), (Names{"row2", "n2"}));
  w.network.set_table(NetworkSource::file, table({"hall"}, {{"n2", {"h1"}}}));
  EXPECT_EQ(w.network.path_of("n2"), (Names{"h1", "n2"}));
  EXPECT_EQ(w.network.path_of("n1"), (Names{"", "n1"})) << "other sources have other levels";
  // and back
  w.network.set_table(NetworkSource::file, {});
  w.network.set_table(NetworkSource::configmap, {});
  w.network.set_table(NetworkSource::hypernodes, {});
  EXPECT_EQ(w.network.path_of("n2"), (Names{"l1", "l2", "n2"}));
  w.network.name_levels(NetworkSource::kueue, {{"no.such/label", {"no.such/label"}}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer2, kHost})) << "no node has Kueue's label";
}

TEST(NetworkSources, ANextOneWithTheSameLevelsKnowsTheOtherNodes) {
  NetworkWorld w(all_sources());
  w.add("n1", "l1", "l2");
  w.add("n2", "l3", "l4");
  w.network.set_table(NetworkSource::configmap,
                      table({kAwsLayer1, kAwsLayer2}, {{"n1", {"b1", "r1"}}}));
  EXPECT_EQ(w.network.path_of("n1"), (Names{"b1", "r1", "n1"}));
  EXPECT_EQ(w.network.path_of("n2"), (Names{"l3", "l4", "n2"}));
  const auto sources = w.network.sources();
  EXPECT_EQ(sources[static_cast<std::size_t>(NetworkSource::configmap)].nodes, 1U);
  EXPECT_EQ(sources[static_cast<std::size_t>(NetworkSource::labels)].nodes, 1U);
  // it knows the same of it
  w.network.set_table(
      NetworkSource::configmap,
      table({kAwsLayer1, kAwsLayer2}, {{"n1", {"b1", "r1"}}, {"n2", {"l3", "l4"}}}));
  w.network.fabric(kGpu);
  EXPECT_EQ(w.network.sources()[static_cast<std::size_t>(NetworkSource::configmap)].nodes, 2U);
}

TEST(NetworkConflicts, AreNodesThatTwoSourcesPlaceDifferently) {
  NetworkWorld w(all_sources());
  w.add("n1", "l1", "l2");
  w.add("n2", "l1", "l2");
  w.network.fabric(kGpu);
  EXPECT_TRUE(w.network.conflicts().empty());
  w.network.set_table(NetworkSource::configmap,
                      table({"row", kAwsLayer2}, {{"n1", {"row1", "l9"}}, {"n2", {"row1", "l2"}}}));
  EXPECT_EQ(w.network.path_of("n1"), (Names{"row1", "l9", "n1"}));
  const std::map<std::string, NetworkConflict> expected = {
      {"n1", {kAwsLayer2, NetworkSource::configmap, "l9", NetworkSource::labels, "l2"}}};
  EXPECT_EQ(w.network.conflicts(), expected);
  const std::uint64_t version = w.network.conflict_version();
  w.network.set_labels("n2", {{kAwsLayer1, "l1"}, {kAwsLayer2, "l3"}});
  const std::uint64_t places = w.network.placements();
  EXPECT_EQ(w.network.path_of("n2"), (Names{"row1", "l2", "n2"}));
  EXPECT_EQ(w.network.placements(), places) << "only the conflict is new";
  EXPECT_EQ(w.network.conflicts().size(), 2U);
  EXPECT_GT(w.network.conflict_version(), version);
  w.network.set_labels("n1", {{kAwsLayer1, "l1"}, {kAwsLayer2, "l9"}});
  w.network.set_labels("n2", {{kAwsLayer1, "l1"}});
  w.network.fabric(kGpu);
  EXPECT_TRUE(w.network.conflicts().empty());
}

TEST(NetworkConflicts, GoWithTheNode) {
  NetworkWorld w(all_sources());
  w.add("n1", "l1", "l2");
  w.network.set_table(NetworkSource::file, table({kAwsLayer2}, {{"n1", {"l9"}}}));
  w.network.fabric(kGpu);
  EXPECT_EQ(w.network.conflicts().size(), 1U);
  w.nodes.remove(w.nodes.find("n1"));
  w.network.fabric(kGpu);
  EXPECT_TRUE(w.network.conflicts().empty());
}

// Four nodes in two blocks of two racks of two.
class Accelerators : public ::testing::Test {
 protected:
  Accelerators() {
    for (int i = 0; i < 8; ++i) {
      const std::string name = "n" + std::to_string(i);
      w.report(name);
      clique(i, "");
    }
  }
  void clique(int i, const std::string& clique) {
    NodeLabels::Map labels = {{kAwsLayer1, "b" + std::to_string(i / 4)},
                              {kAwsLayer2, "r" + std::to_string(i / 2)}};
    if (!clique.empty()) labels[kCliqueLabel] = clique;
    w.network.set_labels("n" + std::to_string(i), labels);
  }
  NetworkWorld w;
};

TEST_F(Accelerators, DomainsOfWholeRacksAreBetweenBlocksAndRacks) {
  for (int i = 0; i < 8; ++i) clique(i, i < 4 ? "c0.1" : "c1.1");
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kCliqueLabel, kAwsLayer2, kHost}));
  EXPECT_EQ(w.network.path_of("n5"), (Names{"b1", "c1", "r2", "n5"}));
  EXPECT_EQ(w.network.level_of(kCliqueLabel), 1);
  EXPECT_EQ(w.network.domains(1), 2U);
}

TEST_F(Accelerators, DomainsInsideRacksAreBelowThem) {
  for (int i = 0; i < 8; ++i) clique(i, "c" + std::to_string(i / 2) + ".1");
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kCliqueLabel, kHost}));
}

TEST_F(Accelerators, DomainsOfWholeBlocksAreAboveAll) {
  for (int i = 0; i < 8; ++i) clique(i, "c0.1");
  EXPECT_EQ(w.network.levels(), (Names{kCliqueLabel, kAwsLayer1, kAwsLayer2, kHost}));
}

TEST_F(Accelerators, DomainsThatCutRacksAreLeftOutAndReported) {
  for (int i = 0; i < 8; ++i) clique(i, i % 2 == 0 ? "c0.1" : "c1.1");
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kHost}));
  EXPECT_EQ(w.network.shape().accelerators(), AcceleratorLevels::apart);
  EXPECT_EQ(w.network.level_of(kCliqueLabel), std::nullopt);
  // as soon as they nest, they are levels
  for (int i = 0; i < 8; ++i) clique(i, i < 4 ? "c0.1" : "c1.1");
  EXPECT_EQ(w.network.levels().size(), 4U);
}

TEST_F(Accelerators, ANodeOfUnknownPlaceIsNoReasonToLeaveThemOut) {
  for (int i = 0; i < 8; ++i) clique(i, i < 4 ? "c0.1" : "c1.1");
  w.report("n9");
  w.network.set_labels("n9", {{kCliqueLabel, "c0.1"}});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kCliqueLabel, kAwsLayer2, kHost}));
  EXPECT_EQ(w.network.path_of("n9"), (Names{"", "c0", "", "n9"}));
}

TEST_F(Accelerators, OfInventoriesCountWhereNoLabelsTellThem) {
  for (int i = 0; i < 8; ++i)
    w.network.set_inventory("n" + std::to_string(i), {{}, {}, i < 4 ? "sp0" : "sp1"});
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, "domain", kAwsLayer2, kHost}));
  EXPECT_EQ(w.network.path_of("n7"), (Names{"b1", "sp1", "r3", "n7"}));
  clique(0, "c0.1");
  EXPECT_EQ(w.network.levels(), (Names{kAwsLayer1, kAwsLayer2, kCliqueLabel, kHost}));
}

TEST_F(Accelerators, MindClustersAnnotationsCountAsLabels) {
  for (int i = 0; i < 8; ++i)
    w.network.set_labels("n" + std::to_string(i), {},
                         {{"superPodID", i < 4 ? "0" : "1"}, {"rackID", std::to_string(i / 2)}});
  w.network.set_labels("n7", {}, {{"superPodID", "-1"}});
  EXPECT_EQ(w.network.levels(), (Names{"superPodID", "rackID", kHost}));
  EXPECT_EQ(w.network.path_of("n3"), (Names{"0", "1", "n3"}));
  EXPECT_EQ(w.network.path_of("n7"), (Names{"", "", "n7"})) << "-1: none";
}

TEST_F(Accelerators, ALevelOfTheirNameIsEnough) {
  NetworkWorld other({{NetworkSource::labels}, {kAwsLayer1, kCliqueLabel}});
  other.report("n1");
  other.network.set_labels("n1", {{kAwsLayer1, "b1"}, {kCliqueLabel, "c.1"}});
  EXPECT_EQ(other.network.levels(), (Names{kAwsLayer1, kCliqueLabel, kHost}));
  EXPECT_EQ(other.network.path_of("n1"), (Names{"b1", "c.1", "n1"})) << "as the label says";
  EXPECT_EQ(other.network.shape().accelerators(), AcceleratorLevels::same_name);
}

TEST(NetworkTables, ChangeOnlyTheNodesThatMove) {
  NetworkWorld w(all_sources());
  std::map<std::string, Names> nodes;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i);
    w.report(name);
    nodes[name] = {"row" + std::to_string(i / 10)};
  }
  w.network.set_table(NetworkSource::configmap, table({"row"}, nodes));
  w.settle();
  const std::uint64_t placements = w.network.placements();
  nodes["n7"] = {"row9"};
  nodes.erase("n8");
  w.network.set_table(NetworkSource::configmap, table({"row"}, nodes));
  EXPECT_EQ(w.network.path_of("n7"), (Names{"row9", "n7"}));
  EXPECT_EQ(w.network.path_of("n8"), (Names{"", "n8"}));
  EXPECT_EQ(w.network.placements(), placements + 2);
}

TEST(NetworkTables, WithBadNamesAndShortPathsAreUnknownThere) {
  NetworkWorld w(all_sources());
  for (const char* node : {"n1", "n2"}) w.report(node);
  NetworkTable odd = table({"a", "b"}, {{"n1", {"x"}}, {"n2", {"x\n", std::string(300, 'y')}}});
  odd.accelerator_levels = {"c"};
  odd.nodes[0].accelerator = {"c0", "too", "many"};
  odd.nodes[0].rails = {"leaf1"};
  w.network.set_table(NetworkSource::file, odd);
  EXPECT_EQ(w.network.path_of("n1"), (Names{"x", "", "c0", "n1"}));
  EXPECT_EQ(w.network.path_of("n2"), (Names{"", "", "", "n2"}));
  EXPECT_EQ(*w.network.rails_of("n1"), Names{"leaf1"});
}

TEST(NetworkTables, WithTooManyLevelsHaveNoneForTheAccelerators) {
  NetworkWorld w(all_sources());
  w.report("n1");
  NetworkTable deep;
  domain::NetworkNode node{"n1", {}, {}, {"c"}};
  for (std::size_t i = 0; i < limits::kMaxNetworkLevels; ++i) {
    deep.levels.push_back("l" + std::to_string(i));
    node.path.push_back("d" + std::to_string(i));
  }
  deep.accelerator_levels = {"clique"};
  deep.nodes = {node};
  w.network.set_table(NetworkSource::file, deep);
  EXPECT_EQ(w.network.levels().size(), limits::kMaxNetworkLevels);
  EXPECT_EQ(w.network.path_of("n1").front(), "d1") << "the coarsest is left out";
  EXPECT_EQ(w.network.shape().accelerators(), AcceleratorLevels::too_many);
}

TEST(NetworkReadiness, IsThereWhenEachAwaitedSourceWasReadOnce) {
  NetworkWorld w;
  EXPECT_TRUE(w.network.known());
  w.network.await(NetworkSource::labels);
  w.network.await(NetworkSource::inventories);
  w.network.arrived(NetworkSource::labels);
  EXPECT_FALSE(w.network.known());
  w.network.arrived(NetworkSource::inventories);
  EXPECT_TRUE(w.network.known());
}

}  // namespace
}  // namespace chipweave::sched::test
