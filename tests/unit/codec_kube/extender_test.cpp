// The reader with bodies that real kube-schedulers sent, and with input that breaks naive readers.
#include "common/codec/kube/requests/extender.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/codec_kube/captures.hpp"

namespace chipweave::codec {
namespace {

// Lower-cases the keys that belong to Go structs (as upstream's compatibility test does), not those
// of maps.
std::string lower_keys(std::string text) {
  for (const char* key : {"Pod\"", "Nodes\"", "NodeNames\"", "PodName\"", "PodUID\"", "Node\"",
                          "initContainers\"", "nodeName\""}) {
    const std::string quoted = std::string("\"") + key;
    std::string lower = quoted;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (std::size_t at = text.find(quoted); at != std::string::npos;
         at = text.find(quoted, at + 1))
      text.replace(at, quoted.size(), lower);
  }
  return text;
}

TEST(ExtenderCapture, FilterWithNames) {
  for (const char* file : {"kube-filter.json", "kube-prioritize.json"}) {
    REQUIRE_CAPTURE(body, file);
    ExtenderReader reader;
    ExtenderArgs args;
    for (std::string text : {body, lower_keys(body)}) {
      ASSERT_TRUE(reader.read_args(text, args).ok());
      EXPECT_EQ(args.pod.name, "w-0");
      EXPECT_EQ(args.pod.ns, "default");
      EXPECT_EQ(args.pod.uid, "30412e2b-41c5-4e19-99a3-df6a79563ac5");
      EXPECT_EQ(args.pod.labels.at("chipweave.dev/managed"), "true");
      EXPECT_EQ(args.pod.annotations.at("example.com/user"), "kept");
      EXPECT_EQ(count_resource(args.pod, "example.com/npu").value(), 8);
      EXPECT_EQ(args.names, (std::vector<std::string_view>{"n2", "n3", "n1"}));
      EXPECT_TRUE(args.names_given);
      EXPECT_FALSE(args.nodes_given);
    }
  }
}

TEST(ExtenderCapture, FilterWithWholeNodesKeepsTheirBytes) {
  REQUIRE_CAPTURE(body, "kube-filter-nodes.json");
  const auto whole = nlohmann::json::parse(body);
  ExtenderReader reader;
  ExtenderArgs args;
  ASSERT_TRUE(reader.read_args(body, args).ok());
  EXPECT_TRUE(args.nodes_given);
  EXPECT_FALSE(args.names_given);
  const auto& items = whole["Nodes"]["items"];
  ASSERT_EQ(args.names.size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(args.names[i], items[i]["metadata"]["name"].get<std::string>());
    EXPECT_EQ(nlohmann::json::parse(args.items[i]), items[i]);
  }
}

TEST(ExtenderCapture, Bind) {
  REQUIRE_CAPTURE(body, "kube-bind.json");
  ExtenderReader reader;
  const auto b = reader.read_binding(body).value();
  EXPECT_EQ(b.pod_name, "w-0");
  EXPECT_EQ(b.pod_namespace, "default");
  EXPECT_EQ(b.pod_uid, "30412e2b-41c5-4e19-99a3-df6a79563ac5");
  EXPECT_EQ(b.node, "n2");
}

TEST(ExtenderCapture, PreemptWithUidsAndWithWholePods) {
  for (const char* file : {"kube-preempt.json", "kube-preempt-victims.json"}) {
    REQUIRE_CAPTURE(body, file);
    const auto whole = nlohmann::json::parse(body);
    ExtenderReader reader;
    const auto args = reader.read_preemption(body).value();
    EXPECT_EQ(args.pod.name, "high-0");
    ASSERT_EQ(args.nodes.size(), 3U);
    const bool meta = !whole["NodeNameToMetaVictims"].is_null();
    for (const auto& node : args.nodes) {
      const auto& victim =
          whole[meta ? "NodeNameToMetaVictims" : "NodeNameToVictims"][node.node]["Pods"][0];
      ASSERT_EQ(node.victim_uids.size(), 1U);
      EXPECT_EQ(node.victim_uids[0],
                (meta ? victim["UID"] : victim["metadata"]["uid"]).get<std::string>());
    }
  }
}

TEST(ExtenderReader, PreemptWithoutVictims) {
  std::string body =
      R"({"Pod":{"metadata":{"name":"high-0"}},"NodeNameToVictims":null,"NodeNameToMetaVictims":)"
      R"({"n1":{"Pods":[],"NumPDBViolations":0},"n2":{"Pods":null,"NumPDBViolations":0}}})";
  ExtenderReader reader;
  const auto args = reader.read_preemption(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  ASSERT_EQ(args->nodes.size(), 2U);
  EXPECT_EQ(args->nodes[0].node, "n1");
  EXPECT_TRUE(args->nodes[0].victim_uids.empty());
  EXPECT_TRUE(args->nodes[1].victim_uids.empty());
}

TEST(ExtenderReader, PreemptWithoutNodes) {
  std::string body =
      R"({"Pod":{"metadata":{"name":"a"}},"NodeNameToVictims":null,"NodeNameToMetaVictims":{}})";
  ExtenderReader reader;
  const auto args = reader.read_preemption(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_TRUE(args->nodes.empty());
}

std::string extender_error(std::string body) {
  ExtenderReader reader;
  ExtenderArgs args;
  auto read = reader.read_args(body, args);
  return read ? "" : read.error().text();
}

TEST(ExtenderReader, RefusesWhatIsNoRequest) {
  for (const char* bad : {"",
                          " ",
                          "{",
                          "[]",
                          "null",
                          "1",
                          "{}",
                          R"({"Pod":null})",
                          R"({"Pod":[]})",
                          R"({"Pod":{},"NodeNames":{}})",
                          R"({"Pod":{},"NodeNames":[1]})",
                          R"({"Pod":{},"NodeNames":["a",]})",
                          R"({"Pod":{}} x)",
                          R"({"Pod":{"metadata":{"name":7}}})",
                          R"({"Pod":{"x":[1,2,,}}})",
                          R"({"Pod":{"x":01}})",
                          R"({"Pod":{"x":tru}})",
                          R"({"Pod":{"x":"\q"}})",
                          R"({"Pod":{"spec":{"containers":{}}}})",
                          R"({"Pod":{"metadata":{"labels":{"a":1}}}})",
                          "{\"Pod\":{\"x\":\"\xff\"}}"}) {
    EXPECT_NE(extender_error(bad), "") << bad;
  }
  EXPECT_EQ(extender_error(R"({"Pod":{}})"), "");
  EXPECT_EQ(extender_error(R"({"pod":{"METADATA":{"Name":"p"}},"extra":[{"a":1.5e3}]})"), "");
}

TEST(ExtenderReader, RefusesDepthAndKeepsWorkingAfterwards) {
  ExtenderReader reader;
  ExtenderArgs args;
  std::string deep = R"({"Pod":{"x":)" + std::string(500, '[') + std::string(500, ']') + "}}";
  EXPECT_FALSE(reader.read_args(deep, args).ok());
  std::string good = R"({"Pod":{"metadata":{"name":"p"}},"NodeNames":["a\u003cb"]})";
  ASSERT_TRUE(reader.read_args(good, args).ok());
  EXPECT_EQ(args.names, std::vector<std::string_view>{"a<b"});
}

TEST(ExtenderReader, NullAndEmptyListsDiffer) {
  ExtenderReader reader;
  ExtenderArgs args;
  std::string null_names = R"({"Pod":{},"Nodes":null,"NodeNames":null})";
  ASSERT_TRUE(reader.read_args(null_names, args).ok());
  EXPECT_FALSE(args.names_given || args.nodes_given);
  std::string empty = R"({"Pod":{},"Nodes":{"metadata":{},"items":[]},"NodeNames":null})";
  ASSERT_TRUE(reader.read_args(empty, args).ok());
  EXPECT_TRUE(args.nodes_given);
  EXPECT_TRUE(args.names.empty());
}

TEST(Quantity, WholeNumbersAsKubernetesWritesThem) {
  const std::pair<const char*, std::int64_t> good[] = {
      {"8", 8},     {"0", 0},  {"8.0", 8},    {"2000m", 2},     {"1k", 1000}, {"1e1", 10},
      {"1E2", 100}, {"+3", 3}, {"1Ki", 1024}, {"0500m000", -1}, {"00", 0}};
  for (const auto& [text, value] : good) {
    const auto q = parse_whole_quantity(text);
    if (value < 0) {
      EXPECT_FALSE(q.ok()) << text;
    } else {
      ASSERT_TRUE(q.ok()) << text;
      EXPECT_EQ(*q, value) << text;
    }
  }
  for (const char* bad :
       {"", "500m", "0.5", "-1", "x", "1x", "1e", "1.2.3", "9999999999", "1E", "1e99", "Ki"}) {
    EXPECT_FALSE(parse_whole_quantity(bad).ok()) << bad;
  }
}

struct CountRow {
  const char* what;
  const char* spec;
  int chips;
};
class Counting : public ::testing::TestWithParam<CountRow> {};

TEST_P(Counting, IsKubernetesOwn) {
  const auto pod =
      read_pod(std::string(R"({"metadata":{"name":"p"},"spec":)") + GetParam().spec + "}");
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  EXPECT_EQ(count_resource(*pod, "g/g").value(), GetParam().chips) << GetParam().what;
}

#define R_(n) R"({"resources":{"requests":{"g/g":")" n R"("}}})"
#define L_(n) R"({"resources":{"limits":{"g/g":")" n R"("}}})"
#define S_(n) R"({"restartPolicy":"Always","resources":{"requests":{"g/g":")" n R"("}}})"
INSTANTIATE_TEST_SUITE_P(
    Table, Counting,
    ::testing::Values(
        CountRow{"nothing", "{}", 0},
        CountRow{"sum of containers", R"({"containers":[)" R_("1") "," R_("2") "]}", 3},
        CountRow{"limit stands in", R"({"containers":[)" L_("4") "]}", 4},
        CountRow{"request beats limit",
                 R"({"containers":[{"resources":{"requests":{"g/g":1},"limits":{"g/g":2}}}]})", 1},
        CountRow{"larger init container",
                 R"({"initContainers":[)" R_("5") "," R_("2") R"(],"containers":[)" R_("1") "]}",
                 5},
        CountRow{"smaller init container",
                 R"({"initContainers":[)" R_("1") R"(],"containers":[)" R_("3") "]}", 3},
        CountRow{"sidecar adds",
                 R"({"initContainers":[)" S_("1") R"(],"containers":[)" R_("3") "]}", 4},
        CountRow{"sidecar runs beside a later init container",
                 R"({"initContainers":[)" S_("2") "," R_("4") R"(],"containers":[)" R_("1") "]}",
                 6},
        CountRow{"a sidecar after it does not",
                 R"({"initContainers":[)" R_("4") "," S_("2") R"(],"containers":[)" R_("1") "]}",
                 4}));

TEST(PodJson, WritesBackWithUidNodeAndAnnotations) {
  const auto text = write_pod(
      R"({"kind":"Pod","metadata":{"name":"p","annotations":{"own":"1"}},"spec":{"x":1}})",
      {"ns", "u", "n1", {{"k", "v"}}, {}, {}});
  EXPECT_EQ(
      nlohmann::json::parse(text.value()),
      nlohmann::json::parse(
          R"({"kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u","annotations":{"own":"1","k":"v"}},
                                      "spec":{"x":1,"nodeName":"n1"}})"));
  for (const char* bad :
       {"", "[]", "{", R"({"metadata":[]})", R"({"kind":"Job","metadata":{"name":"p"}})",
        R"({"metadata":{"name":"p","labels":{"a":1}}})", R"({"spec":{}})"}) {
    EXPECT_FALSE(read_pod(bad).ok()) << bad;
  }
  EXPECT_FALSE(read_pod(R"({"metadata":)" + std::string(100000, '[')).ok());
}

// Answers about a node repeat the bytes of its name.
TEST(Extender, NamesKeepTheTokensTheyCameAs) {
  ExtenderReader reader;
  ExtenderArgs args;
  std::string plain = R"({"Pod":{},"NodeNames":["a" , "b\t", ""]})";
  plain.erase(plain.find("\\t"), 2);
  ASSERT_TRUE(reader.read_args(plain, args).ok());
  ASSERT_EQ(args.names, (std::vector<std::string_view>{"a", "b", ""}));
  EXPECT_EQ(args.quoted(0), R"("a")");
  EXPECT_EQ(args.quoted(2), R"("")");
  std::string escaped = R"({"Pod":{},"NodeNames":["node\u002d1", "a\"b"]})";
  ASSERT_TRUE(reader.read_args(escaped, args).ok());
  ASSERT_EQ(args.names, (std::vector<std::string_view>{"node-1", "a\"b"}));
  EXPECT_EQ(args.quoted(0), R"("node\u002d1")");
  EXPECT_EQ(args.quoted(1), R"("a\"b")");
  std::string items = R"({"Pod":{},"Nodes":{"items":[{"metadata":{"name":"x"}},{"metadata":{}}]}})";
  ASSERT_TRUE(reader.read_args(items, args).ok());
  EXPECT_EQ(args.quoted(0), R"("x")");
  EXPECT_EQ(args.quoted(1), R"("")");
  for (const char* bad : {R"({"Pod":{},"NodeNames":["a" "b"]})", R"({"Pod":{},"NodeNames":["a"x]})",
                          R"({"Pod":{},"NodeNames":[1]})", R"({"Pod":{},"NodeNames":["a",]})",
                          R"({"Pod":{},"NodeNames":["a\q"]})"}) {
    std::string body = bad;
    EXPECT_FALSE(reader.read_args(body, args).ok()) << bad;
  }
}

TEST(Extender, BindingsNameThingsAsLongAsNamesMayBe) {
  ExtenderReader reader;
  std::string body = R"({"PodName":")" + std::string(254, 'p') + R"(","Node":"n"})";
  EXPECT_EQ(reader.read_binding(body).error().text(), "PodName is longer than 253 bytes");
}

TEST(Extender, AQuantityIsBlamedInAShortSentence) {
  ExtenderReader reader;
  ExtenderArgs args;
  std::string body = R"({"Pod":{"spec":{"containers":[{"name":")" + std::string(100000, 'c') +
                     R"(","resources":{"limits":{"nvidia.com/gpu":"-1"}}}]}},"NodeNames":[]})";
  ASSERT_TRUE(reader.read_args(body, args).ok());
  EXPECT_LT(count_resource(args.pod, "nvidia.com/gpu").error().text().size(), 200U);
}

}  // namespace
}  // namespace chipweave::codec
