#include "common/codec/modelarts/address.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

TEST(RankTableAddress, TakesWhatTheSocketLibraryTakes) {
  for (const char* good : {"10.1.0.7", "0.0.0.0", "255.255.255.255", "::", "::1", "fe80::1%eth0",
                           "2001:db8:0:1:2:3:4:5", "2001:db8::", "::ffff:192.0.2.1",
                           "1:2:3:4:5:6:192.0.2.1", "ABCD::ef01"}) {
    EXPECT_TRUE(is_ip_address(good)) << good;
  }
}

TEST(RankTableAddress, RefusesWhatIsSeenInTheWild) {
  for (const char* bad : {"",
                          "-1",
                          "-.-.-.-",
                          "10.*.*.*",
                          "localhost",
                          "192.168.200.1000",
                          "10.1.0",
                          "10.1.0.7.8",
                          "010.1.0.7",
                          "10.1.0.7 ",
                          ":",
                          ":::",
                          "1::2::3",
                          "1:2:3:4:5:6:7",
                          "1:2:3:4:5:6:7:8:9",
                          "1:2:3:4:5:6:7:",
                          ":1:2:3:4:5:6:7",
                          "12345::",
                          "g::",
                          "fe80::1%",
                          "1:2:3:4:5:6:7:192.0.2.1",
                          "192.0.2.1::",
                          "1.2.3.4."}) {
    EXPECT_FALSE(is_ip_address(bad)) << bad;
  }
}

TEST(RankTableAddress, DevicesWithTwoPortsHaveTwo) {
  EXPECT_TRUE(is_address_list("192.0.2.1"));
  EXPECT_TRUE(is_address_list("192.0.2.1,192.0.2.2"));
  EXPECT_FALSE(is_address_list("192.0.2.1,"));
  EXPECT_FALSE(is_address_list(",192.0.2.1"));
  EXPECT_FALSE(is_address_list(""));
}

}  // namespace
}  // namespace chipweave::codec
