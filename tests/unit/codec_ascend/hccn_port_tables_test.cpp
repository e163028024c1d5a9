#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kBusyPort = "hccn_tool is busy, please try again.\n";

constexpr const char* kRoutes =
    "Routing table:\n"
    "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
    "default         192.0.2.1       0.0.0.0         UG    0      0        0 eth3\n"
    "192.0.2.0       *               255.255.255.0   U     0      0        0 eth3\n";

constexpr const char* kArp =
    "arp table:\n"
    "(192.0.2.11) at ac:8d:34:54:82:17 [ether]  on eth3\n"
    "(192.0.2.12) at <incomplete>  on end0v3\n";

TEST(HccnRoutes, AreReadWithTheirInterfaces) {
  const auto routes = parse_hccn_routes(kRoutes);
  ASSERT_TRUE(routes.ok()) << routes.error().text();
  ASSERT_THAT(*routes, SizeIs(2));
  EXPECT_EQ((*routes)[0].destination, "default");
  EXPECT_EQ((*routes)[0].gateway, "192.0.2.1");
  EXPECT_EQ((*routes)[1].gateway, "*");
  EXPECT_EQ((*routes)[1].netmask, "255.255.255.0");
  EXPECT_EQ((*routes)[1].interface, "eth3");
}

TEST(HccnArp, NeighboursThatDoNotAnswerHaveNoMac) {
  const auto arp = parse_hccn_arp(kArp);
  ASSERT_TRUE(arp.ok()) << arp.error().text();
  ASSERT_THAT(*arp, SizeIs(2));
  EXPECT_EQ((*arp)[0].address, "192.0.2.11");
  EXPECT_EQ((*arp)[0].mac, "ac:8d:34:54:82:17");
  EXPECT_EQ((*arp)[0].interface, "eth3");
  EXPECT_EQ((*arp)[1].mac, "");
  EXPECT_EQ((*arp)[1].interface, "end0v3");
  const auto none = parse_hccn_arp("arp table:\n");
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(*none, IsEmpty());
}

TEST(HccnTables, WhatIsNoAnswerIsAnError) {
  EXPECT_EQ(parse_hccn_routes(kBusyPort).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_arp(kBusyPort).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_speed(kBusyPort).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_optical(kBusyPort).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_arp("").error().code, Errc::invalid_argument);
  EXPECT_EQ(parse_hccn_routes("Routing table:\n1.2.3.4 x 255.0.0.0 U 0 0 0 eth0\n").error().code,
            Errc::invalid_argument);
  const std::string huge(kMaxHccnToolBytes + 1, '\n');
  EXPECT_EQ(parse_hccn_routes(huge).error().code, Errc::limit_exceeded);
  EXPECT_EQ(parse_hccn_arp(huge).error().code, Errc::limit_exceeded);
  std::string rows;
  for (int i = 0; i < 4097; ++i) rows += "(192.0.2.11) at <incomplete> on e\n";
  EXPECT_EQ(parse_hccn_arp(rows).error().code, Errc::limit_exceeded);
}

TEST(HccnTables, RealOnesAreRead) {
  const auto both = shared_file("ascend/rt_hccn_tool_arp_route_910A_atlas02.txt");
  const auto with_default = shared_file("ascend/rt_hccn_tool_ip_route_910B1.txt");
  if (!both || !with_default) GTEST_SKIP() << "no shared data";
  const auto routes = parse_hccn_routes(*both);
  ASSERT_TRUE(routes.ok()) << routes.error().text();
  EXPECT_THAT(*routes, SizeIs(13));
  EXPECT_EQ(routes->back().interface, "eth3");
  const auto arp = parse_hccn_arp(*both);
  ASSERT_TRUE(arp.ok()) << arp.error().text();
  EXPECT_THAT(*arp, SizeIs(11));
  EXPECT_EQ((*arp)[3].mac, "");
  const auto others = parse_hccn_routes(*with_default);
  ASSERT_TRUE(others.ok());
  EXPECT_THAT(*others, SizeIs(5));
  EXPECT_EQ(others->front().destination, "default");
  EXPECT_EQ(others->front().gateway, "29.1.0.1");
}

TEST(HccnSpeed, IsInMegabits) {
  EXPECT_EQ(parse_hccn_speed("Speed: 100000 Mb/s\n").value(), 100000);
  EXPECT_EQ(parse_hccn_speed("Speed: 200000Mb/s\n").value(), 200000);
  EXPECT_EQ(parse_hccn_speed("Speed: Unknown!\n").value(), std::nullopt);
  EXPECT_EQ(parse_hccn_speed("Speed: -1 Mb/s\n").error().code, Errc::invalid_argument);
  EXPECT_EQ(parse_hccn_speed("Speed: 100 Gb\n").error().code, Errc::invalid_argument);
}

TEST(HccnOptical, LanesAndFlagsAreRead) {
  const auto module = parse_hccn_optical(
      "optical info:\npresent              : present\ntemperature          : 47 C\n"
      "TxPower High Thres   : 3.5481 mW\nTx Power0            : 1.39 mW\n"
      "Rx Power0            : 1.01 mW\nTx Power1            : 1.40 mW\n"
      "Tx Power99           : 1.40 mW\nTx Los Flag          : 0x0\nRx Los Flag          : 0xff\n");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_TRUE(module->present);
  EXPECT_EQ(module->temperature, "47 C");
  EXPECT_THAT(module->tx_power, ElementsAre("1.39 mW", "1.40 mW"));
  EXPECT_THAT(module->rx_power, ElementsAre("1.01 mW"));
  EXPECT_EQ(module->tx_los, 0U);
  EXPECT_EQ(module->rx_los, 0xffU);
  EXPECT_FALSE(parse_hccn_optical("present : not present\n")->present);
  EXPECT_THAT(parse_hccn_optical("present : perhaps\n").error().message, HasSubstr("perhaps"));
}

TEST(HccnOptical, ARealOneIsRead) {
  const auto file = shared_file("ascend/npu_info_before_kg_parse.txt");
  if (!file) GTEST_SKIP() << "no shared data";
  const std::size_t begin = file->find("optical info:");
  ASSERT_NE(begin, std::string::npos);
  const auto module = parse_hccn_optical(file->substr(begin, file->find("\n\n", begin) - begin));
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_FALSE(module->present);
  EXPECT_EQ(module->temperature, "47 C");
  EXPECT_THAT(module->tx_power, SizeIs(4));
  EXPECT_EQ(module->rx_power.at(1), "0.0054 mW");
  EXPECT_EQ(module->rx_los, 0xffU);
}

}  // namespace
}  // namespace chipweave::codec::ascend
