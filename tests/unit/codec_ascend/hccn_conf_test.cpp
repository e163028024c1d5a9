#include "common/codec/ascend/hccn/hccn_conf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

HccnConf conf(std::string_view text) {
  auto out = parse_hccn_conf(text);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? *std::move(out) : HccnConf{};
}

std::string conf_error(std::string_view text) {
  const auto out = parse_hccn_conf(text);
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(HccnConf, ReadsWhatIsKnownAndPassesOverTheRest) {
  const HccnConf out = conf(
      "# by hand\r\n  address_10 = 10.0.0.1 \r\n\nnetmask_10=255.255.128.0\n"
      "gateway_10=10.0.0.254\narp_10=-i eth0 -s 127.0.0.114 bc:1e:85:d8:ca:dd\n"
      "arp_10=-i eth0 -s 127.0.0.115 bc:1e:85:d8:ca:de\nxsfp_reset_max_times_3=0\n"
      "route_address_10.1.0.0_netmask_255.255.0.0_3=gateway_10.0.0.1\n"
      "IPv6address_0=2001:db8::1\nIPv6netmask_0=64\nIPv6gateway_0=2001:db8::ff");
  ASSERT_THAT(out.devices, SizeIs(2));
  EXPECT_EQ(out.devices.at(10).address, "10.0.0.1");
  EXPECT_EQ(out.devices.at(10).netmask, "255.255.128.0");
  EXPECT_EQ(out.devices.at(10).gateway, "10.0.0.254");
  EXPECT_EQ(out.devices.at(0).ipv6_address, "2001:db8::1");
  EXPECT_EQ(out.devices.at(0).ipv6_netmask, "64");
  EXPECT_EQ(out.devices.at(0).ipv6_gateway, "2001:db8::ff");
  EXPECT_THAT(out.warnings, IsEmpty());
}

TEST(HccnConf, WarnsOfLinesThatMeanNothing) {
  const HccnConf out = conf(
      "$ cat /etc/hccn.conf # a=b\n[root@n1 ~]# cat\naddress_0=10.0.0.1\n...\n"
      "address_0=10.0.0.1\naddress_1=\n");
  EXPECT_THAT(out.devices, SizeIs(1));
  EXPECT_THAT(out.warnings,
              ElementsAre(HasSubstr("line 1"), HasSubstr("line 2"),
                          HasSubstr("line 4: expected KEY_ID=VALUE, got \"...\""),
                          HasSubstr("duplicate "), HasSubstr("address_1 has no value")));
}

TEST(HccnConf, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\naddress_0=10.0.0.256", "line 2: address_0: expected an IPv4 address, got \"10.0.0.256\""},
      {"address_0=::1", "expected an IPv4 address"},
      {"IPv6address_0=10.0.0.1", "expected an IPv6 address"},
      {"IPv6netmask_0=129", "expected an IPv6 address"},
      {"netmask_0=255.0.255.0", "line 1: netmask_0: expected a netmask, got \"255.0.255.0\""},
      {"address_=10.0.0.1", "expected address_ID with ID from 0 to 1023, got \"address_\""},
      {"address=10.0.0.1", "got \"address\""},
      {"address_-1=10.0.0.1", "expected address_ID with ID from 0"},
      {"address_01=10.0.0.1", "expected address_ID with ID from 0"},
      {"address_1024=10.0.0.1", "from 0 to 1023"},
      {"address_99999999999999999999=10.0.0.1", "expected address_ID with ID from 0"},
      {"address_0x=10.0.0.1", "expected address_ID with ID from 0"},
      {"address_0=10.0.0.1\n\naddress_0=10.0.0.2",
       "line 3: address_0 has two values, 10.0.0.1 and 10.0.0.2"},
      {"a=" + std::string(kMaxHccnConfLineBytes, 'x'), "line 1: must have at most 384 bytes"},
      {std::string("address_0=10.0.0.1\0", 19), "NUL byte"},
      {"address_0=\x1b[2J", "expected an IPv4 address, got \"?[2J\""},
      {std::string(kMaxHccnConfBytes, '\n'), "smaller than 1024000 bytes"},
  };
  for (const auto& [text, says] : cases) EXPECT_THAT(conf_error(text), HasSubstr(says)) << text;
}

TEST(HccnConf, KeepsFewWarningsOfALongFile) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "nonsense\n";
  EXPECT_THAT(conf(text).warnings, SizeIs(100));
}

TEST(HccnConf, ReadsEverySample) {
  const auto names = shared_names("ascend", "hccn_conf");
  if (names.empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  for (const std::string& name : names) {
    const HccnConf out = conf(shared_file("ascend/" + name).value_or(""));
    const bool excerpt = name.find("excerpt") != std::string::npos;
    EXPECT_EQ(out.warnings.size(), excerpt ? 2U : 0U) << name;
    for (const auto& [id, device] : out.devices) EXPECT_NE(device.address, "") << name << id;
  }
  const HccnConf a3 = conf(shared_file("ascend/hccn_conf_16npu.txt").value_or(""));
  EXPECT_THAT(a3.devices, SizeIs(16));
  EXPECT_EQ(a3.devices.at(1).address, "127.0.0.114");
  const HccnConf cut =
      conf(shared_file("ascend/rt_hccn_conf_incomplete_4th_entry.conf").value_or(""));
  EXPECT_EQ(cut.devices.at(3).address, "127.0.0.67");
  EXPECT_EQ(cut.devices.at(3).netmask, "");
}

}  // namespace
}  // namespace chipweave::codec::ascend
