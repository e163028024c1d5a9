#include "common/base/limits.hpp"
#include "tests/unit/codec_network/network.hpp"

namespace chipweave::codec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NetworkImport, WhatIsNoTextOrNoNetworkIsNamed) {
  EXPECT_THAT(network_error_of(""), AllOf(HasSubstr("the file is empty"), HasSubstr("Slurm")));
  EXPECT_THAT(network_error_of("\xFF\xFEx"), HasSubstr("UTF-16"));
  EXPECT_THAT(network_error_of("\x1f\x8b"), HasSubstr("gzip"));
  EXPECT_THAT(network_error_of("name,rack\nn\xC3,r\n"), HasSubstr("line 2: not UTF-8 text"));
  EXPECT_THAT(network_error_of(std::string("a\0b", 3)), HasSubstr("not UTF-8 text"));
  EXPECT_THAT(network_error_of(std::string(limits::kMaxNetworkFileBytes + 1, ' ')),
              HasSubstr("must be at most 64 MiB"));
  EXPECT_THAT(network_error_of("kind: Job\n"), HasSubstr("objects of kind \"Job\""));
  EXPECT_THAT(network_error_of("{\"provider\":{},\"engine\":{}}"),
              HasSubstr("request to topograph"));
  EXPECT_THAT(network_error_of("hello\n"), HasSubstr("unknown format"));
}

TEST(NetworkImport, FormatCanBeChosenAndIsChecked) {
  EXPECT_THAT(network_error_of("x", {"slurmy", {}}),
              AllOf(HasSubstr("--format"), HasSubstr("did you mean \"slurm\"")));
  for (const std::string_view format : network_formats()) {
    const NetworkImportOptions options{std::string(format), {}};
    EXPECT_THAT(network_error_of("{\"a\": 1}", options),
                ::testing::AnyOf(HasSubstr("not of the format"), HasSubstr("KEY=VALUE"),
                                 HasSubstr("expected SwitchName="),
                                 HasSubstr("expected \"LEAF SPINE NODE\"")))
        << format;
  }
  EXPECT_THAT(network_error_of("name,rack\nn,r\n", {"", {"x"}}), HasSubstr("--levels"));
  EXPECT_THAT(network_error_of("- topology: f\n  flat: true\n", {"", {"x"}}),
              HasSubstr("--levels"));
}

TEST(NetworkImport, YamlAndJsonLimitsHold) {
  EXPECT_THAT(network_error_of("a: " + std::string(limits::kMaxManifestBytes, 'x')),
              HasSubstr("JSON may be 64 MiB"));
  EXPECT_THAT(network_error_of(std::string(100, '[')), HasSubstr("nested deeper"));
}

TEST(OwnJson, ReadsBackWithEverythingItCanSay) {
  const std::string text =
      R"({"levels":["block","rack"],"accelerator_levels":["pod"],"nodes":[
{"name":"a","path":["b1","r1"],"rails":["l1","","l3"],"accelerator":["p1"]},
{"name":"b","path":["b1",""],"rails":[]}
],"warnings":["w"]}
)";
  const ImportedNetwork out = imported(text);
  EXPECT_EQ(out.format, "chipweave-json");
  EXPECT_EQ(export_network_json(out.table, out.warnings), text);
  EXPECT_EQ(export_network_json({}, {}), "{\"levels\":[],\"nodes\":[\n],\"warnings\":[]}\n");
}

TEST(OwnJson, KeysOfAPlanAreAcceptedAndSaidToBeLeftOut) {
  const ImportedNetwork out = imported(
      R"({"levels":["r"],"nodes":[{"name":"a","path":["x"],"free":8,"max_pods":3,"healthy":true}]})");
  EXPECT_EQ(out.table.nodes.size(), 1U);
  EXPECT_THAT(out.warnings, ElementsAre(HasSubstr("left out")));
}

TEST(OwnJson, ErrorsNameTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"levels":["r"],"nodes":[{"name":"a","path":[]}]})",
       "expected 1 elements in its path, got 0"},
      {R"({"levels":["r"],"nodes":[{"name":"a","paths":["x"]}]})",
       "unknown key \"paths\" (nodes[0]); did you mean \"path\"?; nodes[0].path: is missing"},
      {R"({"levels":["r"],"nodes":[{"name":"a"}]})", "nodes[0].path: is missing"},
      {R"({"levels":["r"],"nodes":[{"name":"a","path":["x"]},{"name":"a","path":["y"]}]})",
       "nodes[1]: duplicate node \"a\", first at nodes[0]"},
      {R"({"levels":["r","r"],"nodes":[]})", "duplicate level \"r\""},
      {R"({"levels":[""],"nodes":[]})", "level name is empty"},
      {R"({"levels":["r"],"nodes":[{"name":"","path":["x"]}]})", "name is empty"},
      {R"({"levels":["r"],"nodes":[{"name":"a\nb","path":["x"]}]})", "control characters"},
      {R"({"levels":["r"],"nodes":[{"name":"a","path":[1]}]})",
       "nodes[0].path[0]: expected a string, got 1"},
      {R"({"levels":["r"],"nodes":[],"nodes":[]})", "twice"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(network_error_of(text), HasSubstr(words));
}

TEST(OwnJson, CountsAreLimited) {
  std::string levels = "[";
  for (int i = 0; i < 17; ++i) levels += (i ? ",\"l" : "\"l") + std::to_string(i) + "\"";
  EXPECT_THAT(network_error_of("{\"levels\":" + levels + "],\"nodes\":[]}"),
              HasSubstr("levels: 17 entries, at most 16 are accepted"));
  std::string nodes;
  for (std::size_t i = 0; i <= limits::kMaxNetworkNodes; ++i) {
    nodes += std::string(i ? "," : "") + R"({"name":"n)" + std::to_string(i) + R"(","path":[]})";
  }
  EXPECT_THAT(network_error_of("{\"levels\":[],\"nodes\":[" + nodes + "]}"),
              HasSubstr("more than 20000 nodes"));
  std::string rails = "\"x\"";
  for (std::size_t i = 0; i < limits::kMaxNetworkRails; ++i) rails += ",\"x\"";
  EXPECT_THAT(network_error_of("{\"levels\":[],\"nodes\":[{\"name\":\"a\",\"path\":[],\"rails\":[" +
                               rails + "]}]}"),
              HasSubstr("at most 64"));
  EXPECT_THAT(network_error_of("{\"levels\":[],\"nodes\":[{\"name\":\"" + std::string(254, 'x') +
                               "\",\"path\":[]}]}"),
              HasSubstr("at most 253 bytes"));
}

TEST(Csv, LevelsRailsAndAccelerators) {
  const ImportedNetwork out = imported(
      "# made by hand\nNode;block;\"my rack\";rails;accelerator:pod\n"
      "a;b1;\"r;1\";l1|l2;p1\nb;b1;;;\n");
  EXPECT_EQ(out.format, "csv");
  EXPECT_THAT(out.table.levels, ElementsAre("block", "my rack"));
  EXPECT_THAT(path_of(out.table, "a"), ElementsAre("b1", "r;1"));
  EXPECT_THAT(out.table.nodes[0].rails, ElementsAre("l1", "l2"));
  EXPECT_THAT(out.table.nodes[0].accelerator, ElementsAre("p1"));
  EXPECT_THAT(path_of(out.table, "b"), ElementsAre("b1", ""));
  EXPECT_TRUE(out.table.nodes[1].accelerator.empty());
  EXPECT_THAT(imported("hostname\track\nn1\tr1\n").table.levels, ElementsAre("rack"));
}

TEST(Csv, ErrorsNameTheLine) {
  EXPECT_THAT(network_error_of("name,r\na,b,c\n"),
              HasSubstr("line 2: expected 2 columns as in the header, got 3"));
  EXPECT_THAT(network_error_of("name,r\n\na,\"b\n"), HasSubstr("line 3: missing closing quote"));
  EXPECT_THAT(network_error_of("name,r\na,b\na,c\n"), HasSubstr("line 3: duplicate node \"a\""));
  EXPECT_THAT(network_error_of("name,r,r\n"), HasSubstr("line 1: duplicate level \"r\""));
  EXPECT_THAT(network_error_of("name" + std::string(64, ',') + "\n"), HasSubstr("64 columns"));
}

TEST(Dlrover, LinesAndConfigMapAreLeafSpineNode) {
  const std::string lines = "asw-0 psw-0 10.0.0.1\n\nasw-1 psw-0 10.0.0.2\n";
  const ImportedNetwork out = imported(lines);
  EXPECT_EQ(out.format, "dlrover");
  EXPECT_THAT(out.table.levels, ElementsAre("spine", "leaf"));
  EXPECT_THAT(path_of(out.table, "10.0.0.2"), ElementsAre("psw-0", "asw-1"));
  const ImportedNetwork map = imported(
      "kind: ConfigMap\nmetadata: {name: node-topology-config}\ndata:\n  topology_config: |\n"
      "    asw-0 psw-0 10.0.0.1\n");
  EXPECT_THAT(path_of(map.table, "10.0.0.1"), ElementsAre("psw-0", "asw-0"));
  EXPECT_THAT(network_error_of("a-1 b-1 c-1\nd-1 e-1\n"),
              HasSubstr("line 2: expected \"LEAF SPINE NODE\", got \"d-1 e-1\""));
}

TEST(MindCluster, TorInfoAndSuperPods) {
  const std::string tors =
      R"({"version":"1.0","tor_count":2,"server_list":[
        {"tor_id":0,"tor_ip":"10.9.0.1","server":[{"server_ip":"10.1.0.7","slice_id":0}]},
        {"tor_id":7,"server":[{"server_ip":"10.1.0.8"}]}]})";
  EXPECT_THAT(path_of(imported(tors).table, "10.1.0.7"), ElementsAre("10.9.0.1"));
  EXPECT_THAT(path_of(imported(tors).table, "10.1.0.8"), ElementsAre("tor-7"));
  const ImportedNetwork map = imported(
      "kind: ConfigMap\nmetadata: {name: basic-tor-node-cm}\ndata:\n  tor_info: |\n    "
      R"({"server_list":[{"tor_id":1,"server":[{"server_ip":"10.1.0.7"}]}]})"
      "\n");
  EXPECT_EQ(map.format, "tor");
  const ImportedNetwork ranks = imported(
      R"({"version":"1.2","server_list":[{"server_id":"s1"},{"server_id":"s2"}],
          "super_pod_list":[{"super_pod_id":"0","server_list":[{"server_id":"s1"},{"server_id":"s2"}]}]})");
  EXPECT_EQ(ranks.format, "super-pod");
  EXPECT_THAT(ranks.table.nodes.at(1).accelerator, ElementsAre("0"));
  const ImportedNetwork info = imported(
      "kind: ConfigMap\nmetadata: {name: cluster-info-device-0}\ndata:\n"
      "  cluster-info-device-0: '{\"mindx-dl-deviceinfo-n1\":{\"SuperPodID\":3,\"RackID\":1},"
      "\"mindx-dl-deviceinfo-n2\":{\"SuperPodID\":-2,\"RackID\":-2}}'\n");
  EXPECT_THAT(info.table.accelerator_levels, ElementsAre("super-pod", "rack"));
  EXPECT_THAT(info.table.nodes.at(0).accelerator, ElementsAre("3", "1"));
  EXPECT_TRUE(info.table.nodes.at(1).accelerator.empty());
  EXPECT_THAT(network_error_of(R"({"server_list":[{"server":[]}]})"),
              HasSubstr("server_list[0]: neither tor_ip nor tor_id is given"));
}

TEST(Topograph, GraphLayersAreClosestFirst) {
  const ImportedNetwork out = imported(
      R"({"instances":[
        {"id":"n1","network_layers":["l1","s1"],"labels":{"accelerator.topograph.run/domain":"d1"}},
        {"id":"n2","network_layers":["s1"]},{"id":"n3"}]})");
  EXPECT_EQ(out.format, "topograph");
  EXPECT_THAT(path_of(out.table, "n1"), ElementsAre("s1", "l1"));
  EXPECT_THAT(path_of(out.table, "n2"), ElementsAre("s1", "s1"));
  EXPECT_THAT(path_of(out.table, "n3"), ElementsAre("", ""));
  EXPECT_THAT(out.table.nodes[0].accelerator, ElementsAre("d1"));
}

TEST(Topograph, ModelErrorsNameTheBlock) {
  EXPECT_THAT(network_error_of("blocks:\n- switch: a\n  nodes: ['n[1']\n"),
              HasSubstr("blocks[0]: host list"));
  EXPECT_THAT(network_error_of("switches:\n  a: {switches: [b]}\n  b: {switches: [a]}\n"
                               "blocks:\n- switch: b\n  nodes: [n1]\n"),
              HasSubstr("is below itself"));
}

TEST(Ibnetdiscover, UnitsAreHostsOnTheSameLeaves) {
  // Three leaves; c lacks one, d all but one, x has no name, and the switch has its aggregation
  // node.
  std::string text;
  const auto leaf = [&text](const char* guid, const std::string& ports) {
    text += std::string("Switch\t65 \"S-") + guid + "\"\t\t# \"MF0;leaf-" + guid +
            ":MQM9701/U1\" enhanced port 0 lid 1 lmc 0\n" + ports + "\n";
  };
  const auto port = [](int n, const std::string& guid, const std::string& name) {
    return "[" + std::to_string(n) + "]\t\"H-" + guid + "\"[1](" + guid + ") \t\t# \"" + name +
           "\" lid 7 4xNDR\n";
  };
  leaf("1", port(1, "a1", "a mlx5_0") + port(2, "b1", "b mlx5_0") + port(3, "c1", "c mlx5_0") +
                port(4, "d1", "d mlx5_0") +
                port(5, "e1", "MT4129 ConnectX7 Mellanox Technologies") +
                port(65, "z1", "Mellanox Technologies Aggregation Node") +
                "[9]\t\"S-9\"[1]\t\t# \"spine\" lid 3 4xNDR\n");
  leaf("2", port(1, "a2", "a mlx5_1") + port(2, "b2", "b mlx5_1"));
  leaf("3", port(1, "a3", "a mlx5_2") + port(2, "b3", "b mlx5_2") + port(3, "c3", "c mlx5_2"));
  leaf("4", port(1, "f1", "f mlx5_0"));
  const ImportedNetwork out = imported(text);
  EXPECT_EQ(out.format, "ibnetdiscover");
  EXPECT_THAT(out.table.levels, ElementsAre("unit"));
  EXPECT_THAT(path_of(out.table, "a"), ElementsAre("leaf-1"));
  EXPECT_THAT(path_of(out.table, "c"), ElementsAre("leaf-1"));
  EXPECT_THAT(path_of(out.table, "d"), ElementsAre(""));
  EXPECT_THAT(path_of(out.table, "f"), ElementsAre("leaf-4"));
  EXPECT_THAT(out.table.nodes.at(2).rails, ElementsAre("leaf-1", "", "leaf-3"));
  EXPECT_THAT(out.warnings,
              ElementsAre(HasSubstr("1 ports do not name their host"), HasSubstr("\"d\"")));
}

TEST(Ibnetdiscover, NamesOfTheOtherEndJoinPortsByGuid) {
  const ImportedNetwork out = imported(
      "Switch\t65 \"S-1\"\t\t# \"leaf\" x\n[1]\t\"H-a\"[1](a) \t# \"MT4129 ConnectX7 Mellanox "
      "T\"\n\n"
      "Ca\t1 \"H-a\"\t\t# \"host mlx5_0\"\n[1](a) \t\"S-1\"[1]\t# lid 1 lmc 0 \"leaf\" lid 2\n");
  ASSERT_EQ(out.table.nodes.size(), 1U);
  EXPECT_EQ(out.table.nodes[0].name, "host");
  EXPECT_TRUE(out.warnings.empty());
}

}  // namespace
}  // namespace chipweave::codec
