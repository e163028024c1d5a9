#include "cli/network_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

constexpr TreeStyle kUtf8{true, false};
constexpr TreeStyle kAscii{false, false};

domain::NetworkTable two_blocks() {
  domain::NetworkTable out;
  out.levels = {"example.com/block", "example.com/rack"};
  out.accelerator_levels = {"pod"};
  out.nodes = {{"gpu10", {"b1", "r10"}, {}, {"p1"}},
               {"gpu09", {"b1", "r10"}, {}, {"p1"}},
               {"gpu01", {"b1", "r2"}, {"l1", "l2"}, {}},
               {"gpu02", {"b1", "r2"}, {}, {}},
               {"x", {"b2", ""}, {}, {}},
               {"y", {"", "r2"}, {}, {}}};
  return out;
}

TEST(NetworkTree, DomainsInNaturalOrderAndNodesAsRanges) {
  EXPECT_EQ(network_tree(two_blocks(), kUtf8),
            "network\n"
            "├─ b1 (block, 4 nodes)\n"
            "│  ├─ r2 (rack, 2 nodes) gpu[01-02]\n"
            "│  └─ r10 (rack, 2 nodes) gpu[09-10]\n"
            "├─ b2 (block, 1 node)\n"
            "│  └─ rack unknown: x\n"
            "└─ block unknown: y\n");
  EXPECT_EQ(accelerator_tree(two_blocks(), kUtf8),
            "accelerators\n"
            "├─ p1 (pod, 2 nodes) gpu[09-10]\n"
            "└─ pod unknown: gpu[01-02],x,y\n");
}

TEST(NetworkTree, PlainAsciiForOtherTerminals) {
  EXPECT_EQ(network_tree(two_blocks(), kAscii),
            "network\n"
            "|- b1 (block, 4 nodes)\n"
            "|  |- r2 (rack, 2 nodes) gpu[01-02]\n"
            "|  `- r10 (rack, 2 nodes) gpu[09-10]\n"
            "|- b2 (block, 1 node)\n"
            "|  `- rack unknown: x\n"
            "`- block unknown: y\n");
}

TEST(NetworkTree, WideHasALineANodeWithItsRails) {
  domain::NetworkTable table = two_blocks();
  table.nodes.resize(3);
  EXPECT_EQ(network_tree(table, {true, true}),
            "network\n"
            "└─ b1 (block, 3 nodes)\n"
            "   ├─ r2 (rack, 1 node)\n"
            "   │  └─ gpu01 (rails l1, l2)\n"
            "   └─ r10 (rack, 2 nodes)\n"
            "      ├─ gpu09\n"
            "      └─ gpu10\n");
}

// Importers repeat the last switch of a short branch, and the finest level can be the nodes.
TEST(NetworkTree, RepeatedNamesAndLevelsOfNodesAreLeftOut) {
  domain::NetworkTable table;
  table.levels = {"spine", "leaf", "hostname"};
  table.nodes = {{"n1", {"s1", "s1", "n1"}, {}, {}},
                 {"n2", {"s1", "l2", "n2"}, {}, {}},
                 {"n3", {"s1", "l2", "n3"}, {}, {}}};
  EXPECT_EQ(network_tree(table, kAscii),
            "network\n"
            "`- s1 (spine, 3 nodes)\n"
            "   |- l2 (leaf, 2 nodes) n[2-3]\n"
            "   `- n1\n");
}

TEST(NetworkTree, NothingWithoutLevelsOrNodes) {
  domain::NetworkTable table = two_blocks();
  table.levels.clear();
  EXPECT_EQ(network_tree(table, kAscii), "");
  table = two_blocks();
  table.nodes.clear();
  EXPECT_EQ(network_tree(table, kAscii), "");
}

TEST(NetworkTree, ForeignNamesCannotSteerTheTerminal) {
  domain::NetworkTable table;
  table.levels = {"a\x1b"};
  table.nodes = {{"n\x1b[2J", {"b\n"}, {}, {}}};
  EXPECT_EQ(network_tree(table, kAscii), "network\n`- b? (a?, 1 node) n?[2J\n");
}

TEST(NodeRanges, JoinWhatIsConsecutive) {
  EXPECT_EQ(node_ranges({}), "");
  EXPECT_EQ(node_ranges({"n10", "n9", "n8", "n12"}), "n[8-10,12]");
  EXPECT_EQ(node_ranges({"gpu02", "gpu01", "login", "gpu04"}), "gpu[01-02,04],login");
  EXPECT_EQ(node_ranges({"gpu1.a.example", "gpu2.a.example", "gpu3.b.example"}),
            "gpu[1-2].a.example,gpu3.b.example");
  EXPECT_EQ(node_ranges({"10.0.0.4", "10.0.0.5", "10.0.1.6"}), "10.0.0.[4-5],10.0.1.6");
  EXPECT_EQ(node_ranges({"ip-10-0-0-7", "ip-10-0-0-8"}), "ip-10-0-0-[7-8]");
  EXPECT_EQ(node_ranges({"a", "b"}), "a,b");
}

}  // namespace
}  // namespace chipweave::cli
