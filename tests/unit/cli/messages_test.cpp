#include <gmock/gmock.h>

#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ExtenderArgs, AreWrittenAsKubeSchedulerDoes) {
  const auto args = write_extender_args(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a<b>&c"}})", {"n1", "n2"});
  ASSERT_TRUE(args.ok());
  EXPECT_EQ(*args,
            "{\"Pod\":{\"metadata\":{\"name\":\"a\\u003cb\\u003e\\u0026c\"}},\"Nodes\":null,"
            "\"NodeNames\":[\"n1\",\"n2\"]}");
  EXPECT_EQ(write_binding_args("ns", "w-0", "u1", "n2"),
            R"({"PodName":"w-0","PodNamespace":"ns","PodUID":"u1","Node":"n2"})");
  EXPECT_FALSE(write_extender_args("not json", {}).ok());
}

TEST(ExtenderReplies, NullAndMissingKeysAreEmpty) {
  const auto none = read_filter_reply(R"({"NodeNames":null,"FailedNodes":null,"Error":""})");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->nodes.empty());
  const auto some = read_filter_reply(
      R"({"NodeNames":["b"],"FailedNodes":{"a":"full"},"FailedAndUnresolvableNodes":{"c":"never"}})");
  ASSERT_TRUE(some.ok());
  EXPECT_THAT(some->nodes, ElementsAre("b"));
  EXPECT_THAT(some->failed, ElementsAre(Pair("a", "full"), Pair("c", "never")));
  const auto scores = read_prioritize_reply(R"([{"Host":"b","Score":9}])");
  ASSERT_TRUE(scores.ok());
  EXPECT_EQ(scores->at(0).score, 9);
  EXPECT_EQ(read_binding_reply(R"({"Error":"taken"})").value_or(""), "taken");
  EXPECT_EQ(read_binding_reply("{}").value_or("?"), "");
}

TEST(Answers, WrongOnesAreErrorsNotCrashes) {
  EXPECT_THAT(read_filter_reply("<html>").error().text(), HasSubstr("chipweave-scheduler?"));
  EXPECT_FALSE(read_filter_reply(R"({"NodeNames":3})").ok());
  EXPECT_FALSE(read_filter_reply("[]").ok());
  EXPECT_FALSE(read_prioritize_reply(R"({"a":1})").ok());
  EXPECT_FALSE(read_node_views(R"({"items":[{"name":"n"}]})").ok());
  EXPECT_FALSE(read_node_views("{}").ok());
  EXPECT_FALSE(read_pod_view("{}").ok());
  EXPECT_FALSE(read_pod_view("3").ok());
}

TEST(Answers, NodesComeByName) {
  const auto nodes = read_node_views(
      R"({"items":[{"name":"b","chips":1,"free":[]},{"name":"a","chips":1,"free":[]}]})");
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes->at(0).name, "a");
}

TEST(Answers, ANodeWithItsFaults) {
  const auto node = read_node_view(
      R"({"name":"n1","chips":1,"free":[],"parts":{"chips":[4,2],"pods":["a/b"]},"down_ports":[{"chip":3,"switch":"s","lanes":4}],)"
      R"("down_nics":["mlx5_1"],"faults":[{"code":"xid.79","effect":"unusable","where":"chip 3",)"
      R"("text":"t","since":"2026-11-22T09:14:02Z","until_reset":true}]})");
  ASSERT_TRUE(node.ok()) << node.error().text();
  EXPECT_EQ(node->down_ports.at(0).by_switch, "s");
  EXPECT_EQ(node->down_ports.at(0).lanes, 4);
  EXPECT_THAT(node->down_nics, ElementsAre("mlx5_1"));
  EXPECT_THAT(node->chips_in_parts, ElementsAre(2, 4));
  EXPECT_THAT(node->pods_with_parts, ElementsAre("a/b"));
  EXPECT_EQ(node->faults.at(0).where, "chip 3");
  EXPECT_EQ(node->faults.at(0).since, "2026-11-22T09:14:02Z");
  EXPECT_FALSE(read_node_view(R"({"name":"n1","chips":1,"free":[],"faults":[7]})").ok());
}

TEST(Answers, NodesAndPods) {
  const auto nodes = read_node_views(
      R"({"items":[{"name":"n1","machine":"hgx-v100-8","chips":8,"free":[7,2],"unhealthy":[3],"used":{"a/b":[1,0]},"down_links":[[0,3,1]]}]})");
  ASSERT_TRUE(nodes.ok()) << nodes.error().text();
  EXPECT_THAT(nodes->at(0).free, ElementsAre(2, 7));
  EXPECT_THAT(nodes->at(0).used, ElementsAre(Pair("a/b", ElementsAre(0, 1))));
  EXPECT_EQ(nodes->at(0).down_links.at(0).b.value, 3);

  const auto pod = read_pod_view(
      R"({"metadata":{"name":"p","namespace":"a","uid":"u","annotations":{"chipweave.dev/placement":)"
      R"("{\"v\":1,\"node\":\"n1\",\"resource\":\"nvidia.com/gpu\",\"chips\":[{\"index\":4},{\"index\":0}],\"gbps\":40}"}},)"
      R"("spec":{"nodeName":"n1"}})");
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  ASSERT_TRUE(pod->placement.has_value());
  EXPECT_THAT(pod->placement->chips, ElementsAre(0, 4));
  EXPECT_EQ(pod->placement->gbps, 40);
  EXPECT_EQ(read_pod_view(R"({"metadata":{"name":"q"}})")->ns, "default");
  EXPECT_FALSE(
      read_pod_view(R"({"metadata":{"name":"q","annotations":{"chipweave.dev/placement":"{"}}})")
          .ok());

  const auto pods = read_pod_summaries(
      R"({"items":[{"namespace":"a","name":"p","state":"bound","node":"n1","chips":[4,0],"gbps":40,"best_gbps":80}]})");
  ASSERT_TRUE(pods.ok()) << pods.error().text();
  EXPECT_THAT(pods->at(0).chips, ElementsAre(0, 4));
  EXPECT_EQ(pods->at(0).best_gbps, 80);
  EXPECT_FALSE(read_pod_summaries(R"({"items":[{}]})").ok());
}

TEST(Refusals, AreShownInOneLine) {
  EXPECT_EQ(read_refusal(R"({"error":"no such pod"})"), "no such pod");
  EXPECT_EQ(read_refusal(R"({"error":{"code":"x","message":"no such pod"}})"), "no such pod");
  EXPECT_EQ(read_refusal(R"({"kind":"Status","message":"taken"})"), "taken");
  EXPECT_EQ(read_refusal("plain\nmore"), "plain");
  EXPECT_EQ(read_refusal(""), "no reason given");
  EXPECT_EQ(read_refusal(std::string(5000, 'x')).size(), 300U);
}

TEST(ExplainAsText, ShowsEveryKeyInWords) {
  const auto text = explain_as_text(
      R"({"pod":"a/b","summary":"runs on n1","best_gbps":40.5,"chips":[0,4],"fits":true,"note":null,)"
      R"("rejected":[{"node":"n2","reason":"full"},{"node":"n3","reason":"stale"}],"empty":[],)"
      R"("runnerUp":{"chips":[1,2],"lostBy":"bandwidth"}})");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "a/b: runs on n1\n"
            "best GB/s  40.5\n"
            "chips      0, 4\n"
            "fits       yes\n"
            "note       -\n"
            "rejected:\n"
            "  - node    n2\n"
            "    reason  full\n"
            "  - node    n3\n"
            "    reason  stale\n"
            "empty      none\n"
            "runner up:\n"
            "  chips    1, 2\n"
            "  lost by  bandwidth\n");
}

TEST(ExplainAsText, ControlCharactersAreTakenOut) {
  EXPECT_EQ(explain_as_text(R"({"node":"a\u001b[2Jb"})").value_or(""), "node  a?[2Jb\n");
}

TEST(ExplainAsText, LongListsAreCut) {
  std::string list;
  for (int i = 0; i < 20; ++i)
    list += std::string(i > 0 ? "," : "") + R"({"node":"n)" + std::to_string(i) + "\"}";
  const auto text = explain_as_text("{\"nodes\":[" + list + "]}");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("- node  n11\n  and 8 more"));
}

TEST(ExplainAsText, RefusesWhatIsNoneOrTooDeep) {
  EXPECT_FALSE(explain_as_text("{").ok());
  EXPECT_FALSE(explain_as_text("[]").ok());
  EXPECT_FALSE(explain_as_text(std::string(1000, '[') + std::string(1000, ']')).ok());
  EXPECT_TRUE(explain_as_text(R"({"a":"[[[[ \" [[["})").ok());
  EXPECT_EQ(read_text_key(R"({"name":"x"})", "name"), "x");
  EXPECT_EQ(read_text_key("[]", "name"), "");
}

}  // namespace
}  // namespace chipweave::codec
