#include "cli/ranktable/tools/addresses/device_addresses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "cli/ranktable/tools/addresses/address_source.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNotPreset = "Get ipconf failed, because no ip was preset there!\n";
constexpr const char* kBusy = "hccn_tool is busy, please try again.\n";

// Returns its answers in turn, then repeats the last one.
struct Script {
  std::vector<Result<std::string>> answers;
  std::vector<std::string> asked;
  int pauses = 0;
  std::vector<std::string> warnings;

  Ports ports;
  std::string error;

  void run(int device, const std::string& conf, int times = 1) {
    LiveAddresses::Sources sources;
    if (!answers.empty()) {
      const auto ask = [this](const std::vector<std::string>& words) {
        std::string joined;
        for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
        asked.push_back(joined);
        Result<std::string> answer = answers.front();
        if (answers.size() > 1) answers.erase(answers.begin());
        return answer;
      };
      sources.tool.emplace(ask, [this] { ++pauses; });
    }
    if (!conf.empty()) sources.conf = *codec::ascend::parse_hccn_conf(conf);
    sources.conf_name = "/etc/hccn.conf";
    LiveAddresses live(std::move(sources), [this](const std::string& s) { warnings.push_back(s); });
    for (int i = 0; i < times; ++i) {
      const auto out = live(device);
      if (out) ports = *out;
      error = out ? "" : out.error().text();
    }
  }
};

TEST(LiveAddresses, AsksTheDevice) {
  Script script;
  script.answers = {std::string("ipaddr:10.0.1.18\nnetmask:255.255.0.0\nipaddr:10.0.2.18\n")};
  script.run(3, "address_3=10.0.1.18");
  ASSERT_EQ(script.ports.size(), 2U) << script.error;
  EXPECT_EQ(script.ports[0].netmask, "255.255.0.0");
  EXPECT_THAT(script.asked, ElementsAre("-i 3 -ip -g"));
  EXPECT_THAT(script.warnings, IsEmpty());
}

TEST(LiveAddresses, AsksAgainWhereTheToolIsBusy) {
  Script script;
  script.answers = {std::string(kBusy), std::string(kBusy), std::string("ipaddr:10.0.1.18\n")};
  script.run(0, "");
  EXPECT_EQ(script.ports.size(), 1U) << script.error;
  EXPECT_EQ(script.pauses, 2);
  Script always;
  always.answers = {std::string(kBusy)};
  always.run(0, "");
  EXPECT_EQ(always.asked.size(), 5U);
  EXPECT_THAT(always.error, HasSubstr("hccn_tool is busy"));
}

TEST(LiveAddresses, WarnsWhereTheFileSaysAnotherAddress) {
  Script script;
  script.answers = {std::string("ipaddr:10.0.1.18\n")};
  script.run(3, "address_3=10.0.9.9");
  EXPECT_EQ(script.ports.front().address, "10.0.1.18");
  ASSERT_EQ(script.warnings.size(), 1U);
  EXPECT_THAT(script.warnings.front(), HasSubstr("device 3 has address 10.0.1.18"));
  EXPECT_THAT(script.warnings.front(), HasSubstr("/etc/hccn.conf configures 10.0.9.9"));
}

TEST(LiveAddresses, FallsBackToIpv6AndThenToTheFile) {
  Script six;
  six.answers = {std::string(kNotPreset), std::string("ipv6_address:2001:db8::1\n")};
  six.run(1, "");
  EXPECT_THAT(six.asked, ElementsAre("-i 1 -ip -g", "-i 1 -ip -inet6 -g"));
  EXPECT_EQ(six.ports.front().address, "2001:db8::1");
  Script file;
  file.answers = {std::string(kNotPreset)};
  file.run(1, "address_1=10.0.1.19\nnetmask_1=255.255.255.0");
  EXPECT_EQ(file.ports.front().address, "10.0.1.19");
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("may not be active")));
  Script no_tool;
  no_tool.run(1, "IPv6address_1=2001:db8::2");
  EXPECT_EQ(no_tool.ports.front().address, "2001:db8::2");
  EXPECT_THAT(no_tool.warnings, IsEmpty());
}

TEST(LiveAddresses, SaysWhatToDoAboutADeviceWithoutAddress) {
  Script script;
  script.answers = {std::string(kNotPreset)};
  script.run(7, "address_1=10.0.1.19");
  EXPECT_THAT(script.error, HasSubstr("device 7 has no address"));
  EXPECT_THAT(script.error, HasSubstr("hccn_tool -i 7 -ip -s address"));
  EXPECT_THAT(script.error, HasSubstr("/etc/hccn.conf has no entry for it"));
  Script nothing;
  nothing.run(7, "address_1=10.0.1.19");
  EXPECT_THAT(nothing.error, HasSubstr("hccn_tool is not installed"));
}

TEST(LiveAddresses, AsksAToolThatHangsOnce) {
  Script script;
  script.answers = {make_error(Errc::deadline, "hccn_tool did not end"),
                    std::string("ipaddr:10.0.1.18\n")};
  script.run(1, "address_1=10.0.1.19", 3);
  EXPECT_EQ(script.asked.size(), 1U);
  EXPECT_EQ(script.ports.front().address, "10.0.1.19");
}

std::string plan_address(const std::string& plan, int device) {
  const auto parsed = parse_address_plan(plan);
  if (!parsed) return parsed.error().text();
  const auto ports = parsed->of(device);
  return ports ? ports->front().address + "/" + ports->front().netmask : ports.error().text();
}

TEST(AddressPlan, CountsFromTheBase) {
  EXPECT_EQ(plan_address("10.0.1.18/24", 0), "10.0.1.18/255.255.255.0");
  EXPECT_EQ(plan_address("10.0.1.18/24", 7), "10.0.1.25/255.255.255.0");
  EXPECT_EQ(plan_address("2001:db8::10/64", 15), "2001:db8::1f/64");
  EXPECT_THAT(plan_address("10.0.1.250/24", 5), HasSubstr("is not a host address"));
  EXPECT_THAT(plan_address("10.0.1.250/24", 6), HasSubstr("is outside of 10.0.1.250/24"));
  EXPECT_THAT(plan_address("10.0.1.0/24", 0), HasSubstr("is not a host address"));
  EXPECT_EQ(plan_address("10.0.1.0/24", 1), "10.0.1.1/255.255.255.0");
  for (const char* plan : {"", "/", "10.0.1.18", "10.0.1.18/", "10.0.1.18/33", "10.0.1/24",
                           "2001:db8::/129", "10.0.1.18/-1", "10.0.1.18/24/24"}) {
    EXPECT_THAT(plan_address(plan, 0), HasSubstr("expected BASE/PREFIX")) << plan;
  }
}

std::string described(const AddressFlags& flags, int device) {
  const auto source = open_addresses(flags, [](const std::string&) {});
  if (!source) return source.error().text();
  const auto ports = (*source)(device);
  return ports ? ports->front().address : ports.error().text();
}

AddressFlags topology(const std::string& name, const std::string& plan = "") {
  AddressFlags out;
  out.from_topology = name;
  out.address_plan = plan;
  return out;
}

TEST(DescribedAddresses, NeverInventsAnAddress) {
  EXPECT_THAT(described(topology("ascend-910b-8"), 0), HasSubstr("add --address-plan"));
  EXPECT_EQ(described(topology("ascend-910b-8", "10.0.1.18/24"), 7), "10.0.1.25");
  EXPECT_THAT(described(topology("ascend-910b-8", "10.0.1.18/24"), 8),
              HasSubstr("has no device 8"));
  EXPECT_THAT(described(topology("hgx-h100-8", "10.0.1.18/24"), 0), HasSubstr("of vendor nvidia"));
  EXPECT_THAT(described(topology("no-such-machine"), 0), HasSubstr("no built-in profile"));
  EXPECT_THAT(described(topology("ascend-910b-8", "x"), 0), HasSubstr("expected BASE/PREFIX"));
}

TEST(DescribedAddresses, ReadsAnInventory) {
  const io::TempFolder folder;
  const std::string machine =
      R"({"vendor": "ascend", "model": "Ascend910B", "chips": [
          {"index": 0, "physical_id": 4, "device_ips": ["10.0.1.22", "10.0.2.22"]},
          {"index": 1, "physical_id": 5}, {"index": 2, "physical_id": 6, "device_ips": ["x"]}]})";
  AddressFlags flags;
  flags.from_inventory = folder.put("status.json", R"({"kind": "NodeInventory", "status": {
      "bootId": "b", "topology": )" + machine + "}}");
  EXPECT_EQ(described(flags, 4), "10.0.1.22");
  EXPECT_THAT(described(flags, 0), HasSubstr("has no device 0"));
  EXPECT_THAT(described(flags, 5), HasSubstr("has no address for device 5"));
  EXPECT_THAT(described(flags, 6), HasSubstr("expected an IP address, got \"x\""));
  flags.from_inventory = folder.put("plain.json", machine);
  EXPECT_EQ(described(flags, 4), "10.0.1.22");
  flags.from_inventory = folder.put("list.json", R"({"items": []})");
  EXPECT_THAT(described(flags, 4), HasSubstr("holds a list"));
  flags.from_inventory = folder.put("none.json", R"({"status": {"topology": {"chips": 1}}})");
  EXPECT_THAT(described(flags, 4), HasSubstr("holds no machine"));
  flags.from_inventory = folder.put("bad.json", "{");
  EXPECT_THAT(described(flags, 4), HasSubstr("bad.json"));
  flags.from_inventory = folder.at("missing.json");
  EXPECT_THAT(described(flags, 4), HasSubstr("cannot open"));
}

TEST(AddressSource, ErrorsNameWhatIsNotThere) {
  AddressFlags flags;
  flags.hccn_tool = "/no/such/tool";
  EXPECT_THAT(described(flags, 0),
              HasSubstr("argument --hccn-tool: \"/no/such/tool\" is not an executable program"));
  flags = {};
  flags.hccn_conf = "/no/such/conf";
  EXPECT_THAT(described(flags, 0), HasSubstr("argument --hccn-conf: file /no/such/conf"));
}

}  // namespace
}  // namespace chipweave::cli
