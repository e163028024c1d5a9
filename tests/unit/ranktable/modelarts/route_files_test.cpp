// route_plan.json, ConfigMaps, annotation values, groups by switch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/ranktable/modelarts/config_map.hpp"
#include "common/codec/ranktable/modelarts/device_report.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/codec/ranktable/modelarts/tor_groups.hpp"

namespace chipweave::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RoutePlanFile, ReadsWhatItWrites) {
  const std::string text = write_route_plan({2, 0, 1});
  EXPECT_EQ(text, R"({"version":"1.0","status":"completed","master_index":1,"ranks":[2,0,1]})");
  EXPECT_THAT(read_route_plan(text).value(), ElementsAre(2, 0, 1));
}

TEST(RoutePlanFile, RefusesWhatIsNoPlan) {
  const auto error = [](const std::string& text) {
    const auto plan = read_route_plan(text);
    return plan ? "it was taken" : plan.error().text();
  };
  EXPECT_THAT(error(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(error("{}"), HasSubstr("expected a list \"ranks\""));
  EXPECT_THAT(error(R"({"ranks":[]})"), HasSubstr("expected a list \"ranks\""));
  EXPECT_THAT(error(R"({"ranks":[0,0],"master_index":0})"), HasSubstr("ranks[1]"));
  EXPECT_THAT(error(R"({"ranks":[0,2],"master_index":0})"), HasSubstr("ranks[1]"));
  EXPECT_THAT(error(R"({"ranks":["0"],"master_index":0})"), HasSubstr("ranks[0]"));
  EXPECT_THAT(error(R"({"ranks":[1,0],"master_index":0})"), HasSubstr("master_index"));
  EXPECT_THAT(error(R"({"ranks":[0]})"), HasSubstr("master_index"));
}

TEST(RouteConfigMap, IsTheSameInYamlAndJson) {
  const ConfigMap map{"torlist-j",
                      "ns",
                      {{"ring-controller.cce", "ascend-1980"}},
                      {{"ranktable_tor.json", "{\"a\": \"b\"}"}}};
  EXPECT_EQ(write_config_map(map, ManifestForm::yaml),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  \"name\": \"torlist-j\"\n"
            "  \"namespace\": \"ns\"\n  labels:\n    \"ring-controller.cce\": \"ascend-1980\"\n"
            "data:\n  \"ranktable_tor.json\": \"{\\\"a\\\": \\\"b\\\"}\"\n");
  EXPECT_EQ(write_config_map(map, ManifestForm::json),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"torlist-j",)"
            R"("namespace":"ns","labels":{"ring-controller.cce":"ascend-1980"}},)"
            R"("data":{"ranktable_tor.json":"{\"a\": \"b\"}"}})"
            "\n");
  EXPECT_EQ(map.bytes(), 28U);
}

TEST(RankTableAnnotation, HasTheMembersInTheirOrder) {
  DeviceReport report{"", "10.1.0.7", {{"0", "192.0.2.1", "9", "3", "10.9.0.1", "p"}}};
  const std::string text = write_rank_table_annotation(report);
  EXPECT_EQ(text, R"({"pod_name":"","server_id":"10.1.0.7","device":[{"device_id":"0",)"
                  R"("device_ip":"192.0.2.1","rank_id":"3","tor_ip":"10.9.0.1","tor_port":"p"}]})");
  EXPECT_EQ(write_rank_table_annotation(parse_device_report(text).value()), text);
}

TEST(DeviceAddress, IsOneOrSeveralWithCommas) {
  for (const char* good : {"10.1.0.7", "192.0.2.1,192.0.2.2", "fe80::1%eth0", "2001:db8::"})
    EXPECT_TRUE(is_address_list(good)) << good;
  for (const char* bad : {"", "-1", "-.-.-.-", "10.*.*.*", "localhost", "192.168.200.1000",
                          "192.0.2.1,", ",192.0.2.1", "192.0.2.1%eth0", "fe80::1%"})
    EXPECT_FALSE(is_address_list(bad)) << bad;
}

TEST(TorGroups, MachinesThatShareASwitchAreOneGroup) {
  EXPECT_THAT(tor_groups({{"t1", "t2"}, {"t10", "t3"}, {"", "t2"}, {"", ""}, {"t3", "t10"}}),
              ElementsAre("t1", "t3", "t1", "", "t3"));
  EXPECT_THAT(tor_groups({{"t3"}, {"t2", "t3"}, {"t2", "t1"}, {"t4"}}),
              ElementsAre("t1", "t1", "t1", "t4"));
  EXPECT_TRUE(tor_groups({}).empty());
}

}  // namespace
}  // namespace chipweave::codec
