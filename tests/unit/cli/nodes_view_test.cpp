#include "cli/views/nodes_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/profile.hpp"
#include "tests/unit/cli/view_time.hpp"

namespace chipweave::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

codec::NodeView sick_node() {
  codec::NodeView node;
  node.age = 4.9;
  node.name = "n1";
  node.machine = "hgx-h100-8";
  node.chips = 8;
  node.free = {0, 1, 2};
  node.unhealthy = {3};
  node.down_links = {{{0}, {3}, 2}};
  node.down_ports = {{3, "nvswitch", 1}};
  node.down_nics = {"mlx5_1"};
  node.faults = {{"xid.79", "unusable", "chip 3", "off the bus\x1B[2J", "2026-11-22T09:14:02Z"},
                 {"nic.flap", "note", "mlx5_0", "", "2026-11-22T09:15:00Z"}};
  return node;
}

TEST(NodesView, ManyShowWhyTheirChipsAreOutOfUse) {
  codec::NodeView well;
  well.name = "n2";
  well.machine = "pcie-8";
  well.age = 3;
  EXPECT_EQ(render_nodes({sick_node(), well}, false, false, test::view_time()),
            "NODE  STATUS  MACHINE     CHIPS  FREE  UNHEALTHY  PODS  SEEN\n"
            "n1    Ready   hgx-h100-8      8  0-2   3             0  4s\n"
            "n2    Ready   pcie-8          0  -     -             0  3s\n"
            "\n"
            "NODE  EFFECT    WHERE   FAULT   AGE    TEXT\n"
            "n1    unusable  chip 3  xid.79  3m20s  off the bus?[2J\n");
  EXPECT_THAT(render_nodes({well}, false, false, test::view_time()), Not(HasSubstr("FAULT")));
}

TEST(NodesView, ANodeWhoseAgentIsSilentIsNotReady) {
  const auto nodes = codec::read_node_views(
      R"({"items":[{"name":"n1","machine":"hgx-h100-8","chips":8,"free":[0,1,2,3,4,5],"unhealthy":[7],)"
      R"("used":{"team/a":[6]},"stale":true,"inventory_age_seconds":754.2},)"
      R"({"name":"n2","chips":0,"free":[],"used":{"team/b":[]},"stale":true,"inventory_age_seconds":null},)"
      R"({"name":"n3","machine":"pcie-8","chips":8,"free":[0],"closed":true,"inventory_age_seconds":1}]})");
  ASSERT_TRUE(nodes.ok()) << nodes.error().text();
  EXPECT_EQ(render_nodes(*nodes, false, false, test::view_time()),
            "NODE  STATUS    MACHINE     CHIPS  FREE  UNHEALTHY  PODS  SEEN\n"
            "n1    NotReady  hgx-h100-8      8  -     unknown       1  12m\n"
            "n2    NotReady  -               0  -     unknown       1  never\n"
            "n3    NotReady  pcie-8          8  0     -             0  1s\n");
  EXPECT_THAT(render_node(nodes->at(0), nullptr, false, test::view_time()),
              HasSubstr("NotReady: its agent has not reported for 12m"));
  EXPECT_THAT(render_node(nodes->at(1), nullptr, false, test::view_time()),
              HasSubstr("no agent has reported"));
  EXPECT_THAT(render_node(nodes->at(2), nullptr, false, test::view_time()),
              HasSubstr("its device plugin is not ready"));
}

TEST(NodesView, OneShowsItsChips) {
  codec::NodeView node;
  node.name = "n1";
  node.chips = 8;
  node.age = 1;
  node.free = {1, 2, 4, 5, 6, 7};
  node.unhealthy = {3};
  node.used = {{"team/a", {0}}};
  node.down_links = {{{0}, {3}, 2}};
  const auto machine = test::profile("hgx-v100-8");
  const std::string text = render_node(node, &machine, false, test::view_time());
  EXPECT_THAT(text, ContainsRegex("\nCHIP  POD +HEALTH +NUMA  NEAREST NIC +LINKS DOWN\n"
                                  "   0  team/a  healthy +0  [^ ]+ +to 3\n"
                                  "   1  -       healthy "));
  EXPECT_THAT(text, ContainsRegex("\n   3  -       unhealthy +[01]  [^ ]+ +to 0\n"));
  node.stale = true;
  EXPECT_THAT(render_node(node, &machine, false, test::view_time()),
              ContainsRegex("   1  -       unknown "));
}

TEST(NodesView, AWatchShowsWhatChanges) {
  codec::NodeView a;
  a.name = "a";
  codec::NodeView b;
  b.name = "b";
  const std::vector<codec::NodeView> before{a, b};
  b.age = 7;
  EXPECT_TRUE(changed_nodes(before, {a, b}).empty());
  b.stale = true;
  ASSERT_EQ(changed_nodes(before, {a, b}).size(), 1U);
  EXPECT_EQ(changed_nodes(before, {a, b})[0].name, "b");
  EXPECT_EQ(changed_nodes({}, before).size(), 2U);
}

TEST(NodesView, OneShowsAllOfIt) {
  const std::string text = render_node(sick_node(), nullptr, false, test::view_time());
  EXPECT_THAT(text, HasSubstr("\n\nlinks down: 0-3 (2 lanes)\n"
                              "switch ports down: 3 to nvswitch (1 lane)\n"
                              "NICs down: mlx5_1\n"
                              "\n"
                              "EFFECT    WHERE   FAULT     AGE    SINCE\n"
                              "unusable  chip 3  xid.79    3m20s  2026-11-22T09:14:02Z\n"
                              "  off the bus?[2J\n"
                              "note      mlx5_0  nic.flap  2m22s  2026-11-22T09:15:00Z\n"));
}

TEST(NodesView, OneSaysWhoUsesPartsOfChips) {
  codec::NodeView node = sick_node();
  EXPECT_THAT(render_node(node, nullptr, false, test::view_time()), Not(HasSubstr("parts")));
  node.chips_in_parts = {4, 5};
  node.pods_with_parts = {"team/a", "team/b"};
  EXPECT_THAT(
      render_node(node, nullptr, false, test::view_time()),
      HasSubstr("\n\nparts of chips 4,5 are in use, so these are not offered: team/a, team/b\n"));
}

TEST(NodesView, OneSaysTheWholeTextOfEachFault) {
  codec::NodeView node = sick_node();
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word" + std::to_string(i) + " ";
  node.faults[0].text = words + "end";
  std::string shown = render_node(node, nullptr, false, test::view_time());
  for (std::size_t at = 0; (at = shown.find("\n  ", at)) != std::string::npos;) {
    shown.replace(at, 3, " ");
  }
  EXPECT_THAT(shown, HasSubstr(words + "end\nnote"));
}

}  // namespace
}  // namespace chipweave::cli
