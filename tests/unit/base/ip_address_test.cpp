#include "common/base/ip_address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace chipweave {
namespace {

TEST(IpAddress, ReadsBothFamiliesAndWritesTheShortForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"10.0.1.18", "10.0.1.18"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"FE80::0:1", "fe80::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"},
      {"1::", "1::"},
      {"::10:0:dfdf:51", "::10:0:dfdf:51"},
      {"::ffff:10.0.0.1", "::ffff:a00:1"},
  };
  for (const auto& [text, shown] : cases) {
    const auto ip = parse_ip(text);
    ASSERT_TRUE(ip) << text;
    EXPECT_EQ(ip->text(), shown);
    EXPECT_EQ(parse_ip(ip->text()), ip);
  }
}

TEST(IpAddress, RefusesWhatInetPtonRefuses) {
  for (const std::string text : {"",
                                 "-.-.-.-",
                                 "10.*.*.*",
                                 "localhost",
                                 "192.168.200.1000",
                                 "10.0.0",
                                 "10.0.0.1.2",
                                 "10.0.0.01",
                                 "10.0.0.256",
                                 " 10.0.0.1",
                                 "10.0.0.1 ",
                                 "10.0.0.+1",
                                 "1:2:3:4:5:6:7",
                                 "1:2:3:4:5:6:7:8:9",
                                 "1::2::3",
                                 ":::",
                                 "1:",
                                 ":1",
                                 "12345::",
                                 "g::",
                                 "1:2:3:4:5:6:7::8",
                                 "::10.0.0",
                                 "10.0.0.1::",
                                 "fe80::1%eth0",
                                 "::1/64"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
}

TEST(IpAddress, CountsOn) {
  EXPECT_EQ(parse_ip("10.0.0.250")->plus(7)->text(), "10.0.1.1");
  EXPECT_EQ(parse_ip("::ffff")->plus(1)->text(), "::1:0");
  EXPECT_FALSE(parse_ip("255.255.255.255")->plus(1));
  EXPECT_EQ(parse_ip("10.1.2.3")->with_host_bits(20, false).text(), "10.1.0.0");
  EXPECT_EQ(parse_ip("10.1.2.3")->with_host_bits(20, true).text(), "10.1.15.255");
}

TEST(IpAddress, KnowsLoopbackAndNetmasks) {
  EXPECT_TRUE(parse_ip("127.0.1.1")->is_loopback());
  EXPECT_TRUE(parse_ip("::1")->is_loopback());
  EXPECT_FALSE(parse_ip("128.0.0.1")->is_loopback());
  EXPECT_FALSE(parse_ip("1::1")->is_loopback());
  EXPECT_EQ(prefix_of_netmask(*parse_ip("255.255.240.0")), 20);
  EXPECT_EQ(prefix_of_netmask(*parse_ip("0.0.0.0")), 0);
  EXPECT_EQ(prefix_of_netmask(*parse_ip("255.255.255.255")), 32);
  EXPECT_EQ(prefix_of_netmask(*parse_ip("ffff:ffff:ffff:ffff::")), 64);
  EXPECT_FALSE(prefix_of_netmask(*parse_ip("255.0.255.0")));
}

}  // namespace
}  // namespace chipweave
