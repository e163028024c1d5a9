#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/lldp/lldp.hpp"

namespace chipweave::codec {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// In the form that lldpd's own tests expect from -f json0.
std::string interface(const std::string& name, const std::string& via, const std::string& port) {
  return R"({"name":")" + name + R"(","via":")" + via + R"(","rid":"1","age":"0 day, 00:00:07",)" +
         R"("chassis":[{"id":[{"type":"mac","value":"00:00:00:00:00:02"}],)" +
         R"("name":[{"value":"leaf1"}],"descr":[{"value":"NOS"}],)" +
         R"("mgmt-ip":[{"value":"10.0.0.1"},{"value":"fe80::1"}],)" +
         R"("capability":[{"type":"Bridge","enabled":true}]}],"port":[)" + port + "]}";
}

std::string document(const std::string& interfaces) {
  return R"({"lldp":[{"interface":[)" + interfaces + "]}]}";
}

const std::string kByName =
    R"({"id":[{"type":"ifname","value":"400GE1/1/20:2"}],"descr":[{"value":"to node 7"}],"ttl":[{"value":"120"}]})";
const std::string kByMac =
    R"({"id":[{"type":"mac","value":"00:00:00:00:00:09"}],"descr":[{"value":"Ethernet9"}]})";

TEST(Lldpctl, GivesEachNeighbourByInterface) {
  const auto got = parse_lldpctl_json(
      document(interface("eth2", "LLDP", kByName) + "," + interface("eth3", "LLDP", kByMac)));
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(*got, SizeIs(2));
  EXPECT_EQ((*got)[0].interface, "eth2");
  EXPECT_EQ((*got)[0].system, "leaf1");
  EXPECT_EQ((*got)[0].port, "400GE1/1/20:2");
  EXPECT_EQ((*got)[0].address, "10.0.0.1");
  EXPECT_EQ((*got)[1].port, "Ethernet9");
}

TEST(Lldpctl, OtherProtocolsAreLeftOut) {
  EXPECT_THAT(*parse_lldpctl_json(document(interface("eth2", "CDPv2", kByName))), IsEmpty());
}

TEST(Lldpctl, AHostWithoutNeighboursHasNone) {
  EXPECT_THAT(*parse_lldpctl_json(R"({"lldp":[{}]})"), IsEmpty());
  EXPECT_THAT(*parse_lldpctl_json(R"({"lldp":[]})"), IsEmpty());
}

TEST(Lldpctl, WhatHasNoNameOrOtherTypesIsLeftOut) {
  EXPECT_THAT(
      *parse_lldpctl_json(document(
          R"(7,null,{"name":7},{"name":"eth2"},{"name":"eth3","chassis":{"a":1},"port":[]},)"
          R"({"name":"eth4","chassis":[{"name":["x"]}],"port":[{"id":[{"value":5}]}]})")),
      IsEmpty());
}

TEST(Lldpctl, TextsAreCutAndPrintable) {
  const std::string port =
      R"({"id":[{"type":"ifname","value":"a\u0000\nb)" + std::string(400, 'x') + R"("}]})";
  const auto got = parse_lldpctl_json(document(interface("eth2", "LLDP", port)));
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(*got, SizeIs(1));
  EXPECT_EQ((*got)[0].port, "a??b" + std::string(252, 'x'));
}

TEST(Lldpctl, WhatIsNotItsOutputIsAnError) {
  for (const char* text : {"", "null", "[]", "{}", R"({"lldp":{}})", "{\"lldp\":[", "\xff\xfe",
                           R"({"lldp":["\u0000)"}) {
    const auto got = parse_lldpctl_json(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, Errc::invalid_argument) << text;
  }
  EXPECT_EQ(parse_lldpctl_json(std::string(1000, '[')).error().code, Errc::limit_exceeded);
  EXPECT_EQ(parse_lldpctl_json(std::string(kMaxLldpBytes + 1, ' ')).error().code,
            Errc::limit_exceeded);
}

TEST(Lldpctl, NoMoreNeighboursThanTheLimit) {
  std::string many = interface("eth0", "LLDP", kByName);
  for (int i = 1; i < 300; ++i) many += "," + interface("eth0", "LLDP", kByName);
  EXPECT_THAT(*parse_lldpctl_json(document(many)), SizeIs(kMaxLldpNeighbours));
}

}  // namespace
}  // namespace chipweave::codec
