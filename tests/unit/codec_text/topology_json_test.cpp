#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/limits.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string topology_json_error(std::string_view json) {
  const auto t = import_topology_json(json, {});
  return t.ok() ? "(no error)" : t.error().text();
}

domain::NodeTopology read(std::string_view json, const ImportOptions& options = {}) {
  auto t = import_topology_json(json, options);
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

TEST(TopologyJson, ReadsTheInlineForm) {
  const auto t = read(R"({"vendor":"nvidia","model":"my box",
    "chips":[{"index":4,"numa":1},{"index":0,"numa":0,"uuid":"GPU-1","pci":"0000:0A:00.0"},{"index":2}],
    "links":[{"a":0,"b":4,"kind":"NVLINK","lanes":2},{"a":4,"b":0,"kind":"NVLINK","lanes":2},
             {"a":2,"b":0,"kind":"PHB"},{"a":0,"b":4,"kind":"NODE"}],
    "switches":[{"name":"s","kind":"NVSWITCH","ports":[{"chip":2,"lanes":12,"lanes_down":3},{"chip":0,"lanes":6}]}],
    "nics":[{"name":"n0","gbps":25,"paths":{"4":"PIX"}}],
    "partitions":[[0,2]],"super_pod":{"id":"7","server_index":3}})");
  ASSERT_EQ(t.chip_count(), 3);
  EXPECT_EQ(t.chip(0).id, "GPU-1");
  EXPECT_EQ(t.chip(0).pci, "0000:0a:00.0");
  EXPECT_EQ(t.chip(2).index.value, 4);
  ASSERT_EQ(t.links().size(), 1U);
  EXPECT_EQ(t.link(0, 2)->gbps(), 40);  // NVLINK of an unknown model: 20 a lane
  EXPECT_EQ(t.host_path(0, 1), LinkKind::phb);
  EXPECT_EQ(t.host_path(0, 2), LinkKind::node);
  EXPECT_EQ(t.host_path(1, 2), LinkKind::sys);
  EXPECT_EQ(t.switches()[0].ports[1].lanes_up(), 9);
  EXPECT_EQ(t.nics()[0].paths[2], LinkKind::pix);
  EXPECT_EQ(t.partitions()[0], (domain::ChipSet{0, 1}));
  EXPECT_EQ(t.super_pod()->server_index, 3);
}

TEST(TopologyJson, ShorthandIsTheSameAsWritingItOut) {
  const auto shorthand =
      read(R"({"chips":4,"meshes":[{"chips":[0,1,2],"kind":"UB","gbps_per_lane":50}],
    "host_groups":[{"kind":"PIX","groups":[[0,1]]},{"kind":"NODE","groups":[[0,1,2]]}],
    "links":[{"a":1,"b":2,"kind":"PHB"}]})");
  const auto explicit_form = read(R"({"chips":[{"index":0},{"index":1},{"index":2},{"index":3}],
    "links":[{"a":0,"b":1,"kind":"UB"},{"a":0,"b":2,"kind":"UB"},{"a":1,"b":2,"kind":"UB"},
      {"a":0,"b":1,"kind":"PIX"},{"a":0,"b":2,"kind":"NODE"},{"a":1,"b":2,"kind":"PHB"}]})");
  EXPECT_EQ(export_topology_json(shorthand), export_topology_json(explicit_form));
}

TEST(TopologyJson, ModelOptionSetsTheRates) {
  const std::string json = R"({"model":"V100","chips":2,"links":[{"a":0,"b":1,"kind":"NVLINK"}]})";
  EXPECT_EQ(read(json).link(0, 1)->gbps(), 20);
  EXPECT_EQ(read(json, {"H100"}).link(0, 1)->gbps(), 20.6);
}

TEST(TopologyJson, HostRatesLeftOutKeepTheDefaultOfTheModel) {
  const auto t = read(R"({"model":"H100","chips":2,"host_gbps":{"SYS":7}})");
  EXPECT_EQ(t.host_bandwidth().sys, 7);
  EXPECT_EQ(t.host_bandwidth().pix, 48);
}

TEST(TopologyJson, ExportIsCanonical) {
  const auto t = read(R"({"chips":[{"index":1},{"index":0}],"vendor":"nvidia","p2p":false,
    "links":[{"kind":"NVLINK","b":0,"a":1,"lanes":2,"lanes_down":1}],"name":"x","source":["y"]})");
  EXPECT_EQ(export_topology_json(t), R"({
 "vendor": "nvidia",
 "p2p": false,
 "chips": [
  {"index":0},
  {"index":1}
 ],
 "links": [
  {"a":0,"b":1,"kind":"NVLINK","lanes":2,"gbps_per_lane":20.0,"lanes_down":1}
 ]
}
)");
}

TEST(TopologyJson, ExportKeepsEverythingAChipCarries) {
  const std::string text = R"({
 "vendor": "ascend",
 "model": "Ascend910",
 "host_gbps": {"BOARD":1.5,"PIX":2.0,"PXB":3.0,"PHB":4.0,"NODE":5.0,"SYS":6.0},
 "rule": {"kind":"ascend-a3","group":2},
 "chips": [
  {"index":0,"id":"Ascend910-0","model":"m","pci":"0000:01:00.0","numa":1,"memory_bytes":9007199254740993,"device_ips":["10.0.0.1"],"physical_id":3,"logical_id":4,"super_device_id":4294967295,"health":"network_unhealthy"},
  {"index":9,"health":"unhealthy"}
 ],
 "links": [
  {"a":0,"b":9,"kind":"SIO","gbps_per_lane":200.0},
  {"a":0,"b":9,"kind":"BOARD"}
 ],
 "switches": [
  {"name":"s","kind":"HCCS","gbps_per_lane":28.0,"ports":[{"chip":0,"lanes":7,"lanes_down":2},{"chip":9}]}
 ],
 "nics": [
  {"name":"n","pci":"0000:02:00.0","numa":0,"gbps":12.5,"paths":{"9":"PIX"}}
 ],
 "partitions": [
  [0,9]
 ],
 "super_pod": {"id":"1","server_index":2}
}
)";
  EXPECT_EQ(export_topology_json(read(text)), text);
}

struct Bad {
  std::string json;
  std::vector<std::string> words;
};

class BadTopologyJson : public ::testing::TestWithParam<Bad> {};

TEST_P(BadTopologyJson, IsRefusedByNameOfTheKey) {
  const std::string error = topology_json_error(GetParam().json);
  for (const std::string& word : GetParam().words) EXPECT_THAT(error, HasSubstr(word));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTopologyJson,
    ::testing::Values(
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"NVLNK"}]})",
            {"links[0].kind: unknown kind \"NVLNK\"", "did you mean \"NVLINK\"", "links[0].kind"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"NVLINK","lane":2}]})",
            {"unknown key \"lane\" (links[0])", "did you mean \"lanes\""}},
        Bad{R"({"chips":2,"chip":[]})", {"unknown key \"chip\"", "\"chips\""}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"NVLINK","lanes":1.5}]})",
            {"links[0].lanes", "expected an integer, got 1.5"}},
        Bad{R"({"chips":2,"links":[{"a":true,"b":1,"kind":"NVLINK"}]})",
            {"links[0].a", "got true"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":2,"kind":"NVLINK"}]})",
            {"links[0].b: the machine has no chip 2"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":0,"kind":"NVLINK"}]})", {"links[0]", "with itself"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"SELF"}]})", {"links[0].kind", "SELF"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"NVSWITCH"}]})",
            {"links[0].kind", "\"switches\""}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"PIX","gbps_per_lane":3}]})",
            {"links[0]", "host_gbps"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"PIX"},{"a":1,"b":0,"kind":"PHB"}]})",
            {"links[1]: pair 0-1 contradicts links[0] (PIX)"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"UB"}],"meshes":[{"chips":[0,1],"kind":"UB","lanes":2}]})",
            {"meshes[0]: pair 0-1 contradicts links[0] (UB x1)"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"UB","lanes":2,"lanes_down":3}]})",
            {"links[0].lanes_down"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"kind":"UB","gbps_per_lane":0}]})",
            {"links[0].gbps_per_lane"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1}]})", {"links[0].kind: is missing"}},
        Bad{R"({"chips":2,"links":{"a":0}})", {"links: expected a list, got an object"}},
        Bad{R"({"links":[]})", {"chips: is missing"}},
        Bad{R"({"chips":[]})", {"chips: must list at least one chip"}},
        Bad{R"({"chips":65})", {"chips: must be 1 to 64"}},
        Bad{R"({"chips":0})", {"chips: must be 1 to 64"}},
        Bad{R"({"chips":[{"index":1},{"index":1}]})", {"chips[1].index: two chips have index 1"}},
        Bad{R"({"chips":[{"index":-1}]})", {"chips[0].index"}},
        Bad{R"({"chips":[{"index":0,"id":"a","uuid":"b"}]})", {"chips[0]", "give one"}},
        Bad{R"({"chips":[{"index":0,"health":"broken"}]})",
            {"chips[0].health: unknown health \"broken\"; known: healthy, network_unhealthy"}},
        Bad{R"({"chips":[{"index":18446744073709551615}]})",
            {"chips[0].index", "18446744073709551615"}},
        Bad{R"({"chips":2,"switches":[{"kind":"NVSWITCH","chips":[0,1],"ports":[{"chip":0}]}]})",
            {"switches[0].chips", "either"}},
        Bad{R"({"chips":2,"switches":[{"kind":"NVSWITCH"}]})", {"switches[0].chips: is missing"}},
        Bad{R"({"chips":2,"switches":[{"kind":"PIX","chips":[0,1]}]})",
            {"switches[0].kind", "NVSWITCH"}},
        Bad{R"({"chips":2,"nics":[{"name":"n","paths":{"2":"PIX"}}]})",
            {"nics[0].paths.2", "no such chip"}},
        Bad{R"({"chips":2,"nics":[{"name":"n","paths":{"01":"PIX"}}]})", {"nics[0].paths.01"}},
        Bad{R"({"chips":2,"nics":[{"name":"n","paths":{"1":"pix"}}]})", {"did you mean \"PIX\""}},
        Bad{R"({"chips":2,"rule":{"kind":"ascend-a4"}})", {"rule.kind: unknown rule", "ascend-a3"}},
        Bad{R"({"chips":2,"host_gbps":{"PIX":-1}})", {"host_gbps.PIX"}},
        Bad{R"({"chips":2,"host_gbps":{"PIX":1e300}})", {"host_gbps.PIX"}},
        Bad{R"({"chips":2,"partitions":[[0,0]]})", {"partitions[0][1]: chip 0 is named twice"}},
        Bad{R"({"chips":2,"host_groups":[{"kind":"UB","groups":[[0,1]]}]})",
            {"host_groups[0].kind", "BOARD"}},
        Bad{R"({"chips":2,"vendor":null})", {"vendor: expected a string, got null"}},
        Bad{R"([1])", {"expected an object, got a list"}}, Bad{"", {"not valid JSON", "line 1"}},
        Bad{"{\"chips\":2,\n \"links\":[,]}", {"not valid JSON: line 2, column 11"}},
        Bad{"{\"chips\":2}x", {"not valid JSON: line 1, column 12"}},
        Bad{"{\"vendor\":\"\xff\",\"chips\":2}", {"not valid JSON", "line 1"}},
        Bad{R"({"chips":2,"links":[{"a":0,"b":1,"a":1,"kind":"UB"}]})",
            {"line 1, column 38: key \"a\" appears twice in one object (links[0].a)"}},
        Bad{R"({"chips":2,"chips":3})", {"key \"chips\" appears twice"}}));

TEST(TopologyJson, AllProblemsAreNamedUpToALimit) {
  const std::string error =
      topology_json_error(R"({"chips":2,"links":[{"a":5,"b":6,"kind":"X"},{},{},{}]})");
  EXPECT_THAT(error,
              AllOf(HasSubstr("links[0].a"), HasSubstr("links[0].b"), HasSubstr("links[0].kind"),
                    HasSubstr("links[1].a: is missing"), HasSubstr("and 4 more")));
}

TEST(TopologyJson, DepthAndSizeAreBounded) {
  EXPECT_THAT(topology_json_error(std::string(100000, '[')), HasSubstr("nested deeper than 64"));
  std::string deep = "{\"source\":";
  deep += std::string(63, '[') + std::string(63, ']') + ",\"chips\":1}";
  EXPECT_EQ(topology_json_error(deep), "(no error)");
  deep.insert(10, "[").insert(deep.find(','), "]");
  EXPECT_THAT(topology_json_error(deep), HasSubstr("nested deeper"));
  const auto big = import_topology_json(std::string(limits::kMaxTopologyFileBytes + 1, ' '), {});
  ASSERT_FALSE(big.ok());
  EXPECT_EQ(big.error().code, Errc::limit_exceeded);
}

TEST(TopologyJson, ValuesAndTextsAreBounded) {
  std::string values = "{\"source\":[0";
  for (std::size_t i = 0; i < limits::kMaxJsonValues; ++i) values += ",0";
  const auto many = import_topology_json(values + "],\"chips\":1}", {});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code, Errc::limit_exceeded);
  const std::string longest(limits::kMaxFactBytes, 'm');
  EXPECT_EQ(topology_json_error("{\"model\":\"" + longest + "\",\"chips\":1}"), "(no error)");
  EXPECT_THAT(topology_json_error("{\"model\":\"" + longest + "m\",\"chips\":1}"),
              HasSubstr("model: has 1025 bytes"));
}

TEST(TopologyJson, AnObjectOfManyKeysIsReadInOnePass) {
  std::string text = "{\"source\":{\"k\":0";
  for (int i = 0; i < 200000; ++i) text += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(topology_json_error(text + "},\"chips\":1}"),
            "(no error)");  // a quadratic algorithm takes minutes
}

TEST(TopologyJson, HighNumbersOfChipsAndNumaNodesReadBack) {
  const std::string text =
      R"({"chips":[{"index":1048576,"numa":70000}],"nics":[{"name":"n","numa":1048576}]})";
  const std::string written = export_topology_json(read(text));
  EXPECT_EQ(export_topology_json(read(written)), written);
  EXPECT_THAT(topology_json_error(R"({"chips":[{"index":1048577}]})"), HasSubstr("0 to 1048576"));
}

TEST(TopologyJson, TwoChipsWithOneIdentityAreRefused) {
  EXPECT_THAT(
      topology_json_error(R"({"chips":[{"index":0,"id":"GPU-a"},{"index":3,"id":"GPU-a"}]})"),
      HasSubstr("chips 0 and 3 have one id"));
  const std::string pci = R"({"chips":[{"index":0,"pci":"0000:01:00.0"},
                                       {"index":1,"pci":"0000:01:00.0"}])";
  EXPECT_THAT(topology_json_error(pci + "}"), HasSubstr("chips 0 and 1 have one bus id"));
  EXPECT_EQ(topology_json_error(pci + R"(,"links":[{"a":0,"b":1,"kind":"BOARD"}]})"), "(no error)");
}

TEST(TopologyJson, IsRecognised) {
  EXPECT_TRUE(looks_like_topology_json("\xEF\xBB\xBF\n { \"chips\""));
  EXPECT_FALSE(looks_like_topology_json("GPU0 GPU1"));
  EXPECT_FALSE(looks_like_topology_json(""));
  EXPECT_EQ(import_topology_json("{\"chips\":1}", {})->format, "chipweave-json");
}

}  // namespace
}  // namespace chipweave::codec
