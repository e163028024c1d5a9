#include "common/codec/ascend/hccn/hccn_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kNotPreset = "Get ipconf failed, because no ip was preset there!\n";
constexpr const char* kBusy = "hccn_tool is busy, please try again.\n";

template <class T>
std::string error_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : result.error().text();
}

TEST(HccnTool, ReadsTheAddressOfEveryPort) {
  const auto one = parse_hccn_ip("ipaddr:10.0.1.18\nnetmask:255.255.255.0\n");
  ASSERT_TRUE(one.ok()) << error_of(one);
  ASSERT_THAT(*one, SizeIs(1));
  EXPECT_EQ(one->front().address, "10.0.1.18");
  EXPECT_EQ(one->front().netmask, "255.255.255.0");
  const auto two = parse_hccn_ip(
      "$ hccn_tool -i 0 -ip -g\r\nipaddr:10.0.1.18\r\nnetmask:255.255.255.0\r\n"
      "ipaddr: 10.0.2.18\r\n");
  ASSERT_TRUE(two.ok()) << error_of(two);
  ASSERT_THAT(*two, SizeIs(2));
  EXPECT_EQ((*two)[1].address, "10.0.2.18");
  EXPECT_EQ((*two)[1].netmask, "");
  const auto six = parse_hccn_ip6("ipv6_address:2001:db8::1\nprefix_length:64\n");
  ASSERT_TRUE(six.ok()) << error_of(six);
  EXPECT_EQ(six->front().address, "2001:db8::1");
  EXPECT_EQ(six->front().netmask, "64");
}

TEST(HccnTool, TellsNotSetFromBusyFromNonsense) {
  EXPECT_EQ(parse_hccn_ip(kNotPreset).error().code, Errc::not_found);
  EXPECT_EQ(parse_hccn_ip(kBusy).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_ip6(kNotPreset).error().code, Errc::not_found);
  EXPECT_EQ(parse_hccn_link(kBusy).error().code, Errc::unavailable);
  EXPECT_EQ(parse_hccn_lldp(kBusy).error().code, Errc::unavailable);
  EXPECT_EQ(error_of(parse_hccn_ip("")), "hccn_tool printed nothing, no address");
  EXPECT_EQ(error_of(parse_hccn_ip("Segmentation\x1b fault\n")),
            "hccn_tool printed \"Segmentation? fault\", no address");
}

TEST(HccnTool, RefusesHostileOutput) {
  const std::string large(kMaxHccnToolBytes + 1, 'x');
  EXPECT_EQ(parse_hccn_ip(large).error().code, Errc::limit_exceeded);
  EXPECT_EQ(parse_hccn_lldp(large).error().code, Errc::limit_exceeded);
  EXPECT_EQ(parse_hccn_link(large).error().code, Errc::limit_exceeded);
  std::string many;
  for (int i = 0; i < 65; ++i) many += "ipaddr:10.0.0." + std::to_string(i) + "\n";
  EXPECT_EQ(parse_hccn_ip(many).error().code, Errc::limit_exceeded);
  EXPECT_THAT(error_of(parse_hccn_ip("ipaddr:\n")), HasSubstr("line 1: hccn_tool printed \"\""));
  EXPECT_THAT(error_of(parse_hccn_ip("ipaddr:10.0.0.1\nnetmask:x")), HasSubstr("not a netmask"));
  EXPECT_THAT(error_of(parse_hccn_ip("ipaddr:::1")),
              HasSubstr("not an address of the queried family"));
  EXPECT_THAT(error_of(parse_hccn_link("link status: MAYBE")), HasSubstr("neither UP nor DOWN"));
}

TEST(HccnTool, ReadsTheOtherAnswers) {
  EXPECT_EQ(*parse_hccn_link("link status: DOWN\n"), false);
  EXPECT_EQ(*parse_hccn_net_health("net health status: Socket failed\n"), "Socket failed");
  EXPECT_EQ(*parse_hccn_net_health("net health status: \x1b[2J"), "?[2J");
}

std::string sample(const std::string& name) { return shared_file("ascend/" + name).value_or(""); }

TEST(HccnTool, ReadsTheSamples) {
  if (sample("rt_hccn_tool_lldp_910B1.txt").empty()) {
    GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  }
  const std::string summary = sample("rt_hccn_tool_ip_health_summary_910B.txt");
  EXPECT_EQ(parse_hccn_ip(summary)->front().address, "10.86.1.80");
  EXPECT_EQ(*parse_hccn_link(summary), true);
  EXPECT_EQ(*parse_hccn_net_health(summary), "Success");
  EXPECT_EQ(parse_hccn_ip(sample("rt_hccn_tool_ip_not_preset.txt")).error().code, Errc::not_found);
  EXPECT_EQ(parse_hccn_ip(sample("rt_hccn_tool_ip_route_910B1.txt"))->front().address,
            "29.1.112.213");
  EXPECT_THAT(*parse_hccn_ip(sample("npu_info_after_worker-9.txt")), SizeIs(8));
  EXPECT_EQ(*parse_hccn_net_health(sample("npu_info_before_kg_parse.txt")), "Socket failed");
  const auto lldp = parse_hccn_lldp(sample("rt_hccn_tool_lldp_910B1.txt"));
  ASSERT_TRUE(lldp.ok()) << error_of(lldp);
  EXPECT_EQ(lldp->port, "400GE1/1/20:2");
  EXPECT_EQ(lldp->system_name, "");
  EXPECT_EQ(lldp->management_address, "26.xx.xx.xx");
  // The outputs of other commands are rejected.
  EXPECT_EQ(parse_hccn_ip(sample("rt_hccn_tool_dev_info_950.txt")).error().code,
            Errc::invalid_argument);
  EXPECT_EQ(parse_hccn_ip(sample("rt_hccn_tool_arp_route_910A_atlas02.txt")).error().code,
            Errc::invalid_argument);
}

}  // namespace
}  // namespace chipweave::codec::ascend
