#include "cli/render_nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

codec::NodeView sick_node() {
  codec::NodeView node;
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

TEST(RenderNodes, ManyShowWhyTheirChipsAreOutOfUse) {
  codec::NodeView well;
  well.name = "n2";
  well.machine = "pcie-8";
  EXPECT_EQ(render_nodes({sick_node(), well}, false),
            "NODE  MACHINE     CHIPS  FREE  UNHEALTHY  PODS\n"
            "n1    hgx-h100-8      8  0-2   3             0\n"
            "n2    pcie-8          0  -     -             0\n"
            "\n"
            "NODE  EFFECT    WHERE   FAULT   SINCE                 TEXT\n"
            "n1    unusable  chip 3  xid.79  2026-11-22T09:14:02Z  off the bus?[2J\n");
  EXPECT_THAT(render_nodes({well}, false), Not(HasSubstr("FAULT")));
}

TEST(RenderNodes, OneShowsAllOfIt) {
  const std::string text = render_node(sick_node(), false);
  EXPECT_THAT(text, HasSubstr("\n\nlinks down: 0-3 (2 lanes)\n"
                              "switch ports down: 3 to nvswitch (1 lane)\n"
                              "NICs down: mlx5_1\n"
                              "\n"
                              "EFFECT    WHERE   FAULT     SINCE\n"
                              "unusable  chip 3  xid.79    2026-11-22T09:14:02Z\n"
                              "  off the bus?[2J\n"
                              "note      mlx5_0  nic.flap  2026-11-22T09:15:00Z\n"));
}

TEST(RenderNodes, OneSaysWhoUsesPartsOfChips) {
  codec::NodeView node = sick_node();
  EXPECT_THAT(render_node(node, false), Not(HasSubstr("parts")));
  node.chips_in_parts = {4, 5};
  node.pods_with_parts = {"team/a", "team/b"};
  EXPECT_THAT(
      render_node(node, false),
      HasSubstr("\n\nparts of chips 4,5 are in use, so these are not offered: team/a, team/b\n"));
}

TEST(RenderNodes, OneSaysTheWholeTextOfEachFault) {
  codec::NodeView node = sick_node();
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word" + std::to_string(i) + " ";
  node.faults[0].text = words + "end";
  std::string shown = render_node(node, false);
  for (std::size_t at = 0; (at = shown.find("\n  ", at)) != std::string::npos;) {
    shown.replace(at, 3, " ");
  }
  EXPECT_THAT(shown, HasSubstr(words + "end\nnote"));
}

}  // namespace
}  // namespace chipweave::cli
