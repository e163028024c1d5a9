// The calls of submit, against a scheduler that is a function: their order, bodies and the
// resulting rows.
#include "cli/submit.hpp"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

namespace chipweave::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Stores pods like a standalone scheduler; the test sets its answers to filter, prioritize and
// bind.
class FakeScheduler {
 public:
  json nodes = json::array({node("n1", "hgx-v100-8"), node("n2", "hgx-v100-8")});
  std::function<json(const json&)> filter = [](const json& args) {
    return json{{"NodeNames", args["NodeNames"]}, {"FailedNodes", json::object()}, {"Error", ""}};
  };
  std::function<json(const json&)> prioritize = [](const json& args) {
    json scores = json::array();
    for (const auto& name : args["NodeNames"]) scores.push_back({{"Host", name}, {"Score", 5}});
    return scores;
  };
  std::string bind_error;
  std::string resource = "nvidia.com/gpu";  // of each pod in the list
  int requested = 2;
  bool gone = false;
  std::vector<std::string> calls;
  std::vector<json> bodies;

  static json node(const std::string& name, const std::string& machine) {
    return {{"name", name},
            {"machine", machine},
            {"chips", 8},
            {"free", {0, 1, 2, 3, 4, 5, 6, 7}},
            {"unhealthy", json::array()},
            {"used", json::object()}};
  }

  Transport transport() {
    return [this](std::string_view method, std::string_view target, std::string_view body) {
      return answer(std::string(method) + " " + std::string(target.substr(0, target.find('?'))),
                    body.empty() ? json() : json::parse(body));
    };
  }

 private:
  Result<http::Reply> answer(const std::string& call, const json& body) {
    if (gone) return make_error(Errc::unavailable, "connection refused");
    calls.push_back(call);
    bodies.push_back(body);
    if (call == "GET /api/v1/nodes") return ok({{"items", nodes}});
    if (call == "GET /api/v1/pods") return list();
    if (call == "POST /standalone/pods") return create(body);
    if (call == "POST /kube/filter") return ok(filter(body));
    if (call == "POST /kube/prioritize") return ok(prioritize(body));
    if (call == "POST /kube/bind") return bind(body);
    const std::string prefix = "GET /standalone/pods/";
    if (call.starts_with(prefix) && pods_.contains(call.substr(prefix.size()))) {
      return ok(pods_[call.substr(prefix.size())]);
    }
    return http::Reply{404, R"({"error":"no such path"})"};
  }
  static Result<http::Reply> ok(const json& value) { return http::Reply{200, value.dump()}; }
  Result<http::Reply> list() {
    json items = json::array();
    for (const auto& [key, pod] : pods_) {
      items.push_back({{"namespace", pod["metadata"]["namespace"]},
                       {"name", pod["metadata"]["name"]},
                       {"resource", resource},
                       {"requested", requested},
                       {"best_gbps", 80.0}});
    }
    return ok({{"items", items}});
  }
  Result<http::Reply> create(json pod) {
    const std::string key = pod["metadata"]["namespace"].get<std::string>() + "/" +
                            pod["metadata"]["name"].get<std::string>();
    if (pods_.contains(key)) return http::Reply{409, R"({"error":"there is such a pod"})"};
    pod["metadata"]["uid"] = "uid-" + key;
    pods_[key] = pod;
    return http::Reply{201, pod.dump()};
  }
  Result<http::Reply> bind(const json& args) {
    if (!bind_error.empty()) return ok({{"Error", bind_error}});
    json& pod =
        pods_[args["PodNamespace"].get<std::string>() + "/" + args["PodName"].get<std::string>()];
    pod["spec"]["nodeName"] = args["Node"];
    const json placement = {{"v", 1},
                            {"node", args["Node"]},
                            {"resource", "nvidia.com/gpu"},
                            {"chips", {{{"index", 0}}, {{"index", 3}}}},
                            {"gbps", 40.0}};
    pod["metadata"]["annotations"]["chipweave.dev/placement"] = placement.dump();
    return ok({{"Error", ""}});
  }
  std::map<std::string, json> pods_;
};

std::vector<codec::ManifestPod> pods(const std::vector<std::string>& names,
                                     const std::string& group = "") {
  std::vector<codec::ManifestPod> out;
  for (const std::string& name : names) {
    std::string yaml = "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name;
    if (!group.empty()) yaml += ", labels: {gpu-topology: " + group + "}";
    yaml += "}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 2}}}]}\n";
    auto manifest = codec::expand_manifest(yaml);
    EXPECT_TRUE(manifest.ok()) << manifest.error().text();
    out.push_back(manifest->pods.at(0));
  }
  return out;
}

std::vector<SubmittedPod> run(FakeScheduler& fake, const std::vector<codec::ManifestPod>& given,
                              const SubmitOptions& options = {}) {
  SchedulerClient client(fake.transport());
  auto outcome = submit(client, given, options);
  EXPECT_TRUE(outcome.ok()) << outcome.error().text();
  return outcome ? *std::move(outcome) : std::vector<SubmittedPod>();
}

TEST(Submit, PodsThatExistKeepTheirPlace) {
  FakeScheduler fake;
  fake.bind_error = "later";
  ASSERT_FALSE(run(fake, pods({"a", "b"}))[0].placed());
  fake.bind_error.clear();
  ASSERT_TRUE(run(fake, pods({"a"}))[0].placed()) << "a pending one is tried again";
  fake.calls.clear();
  const auto rows = run(fake, pods({"a"}));
  EXPECT_TRUE(rows[0].existed);
  EXPECT_EQ(rows[0].node, "n1");
  EXPECT_THAT(rows[0].chips, ElementsAre(0, 3));
  EXPECT_EQ(rows[0].best_gbps, 80);
  EXPECT_THAT(fake.calls, ElementsAre("GET /api/v1/nodes", "POST /standalone/pods",
                                      "GET /standalone/pods/default/a", "GET /api/v1/pods"));
  EXPECT_THAT(submit_text(rows, false, false),
              testing::HasSubstr("Unchanged, because they exist: default/a\n"));
  EXPECT_THAT(submit_json(rows), testing::HasSubstr(R"("reason":"","existed":true)"));
}

TEST(Submit, CreatesAllPodsThenPlaysKubeSchedulerForEach) {
  FakeScheduler fake;
  const auto rows = run(fake, pods({"a", "b"}));
  EXPECT_THAT(
      fake.calls,
      ElementsAre("GET /api/v1/nodes", "POST /standalone/pods", "POST /standalone/pods",
                  "POST /kube/filter", "POST /kube/prioritize", "POST /kube/bind",
                  "GET /standalone/pods/default/a", "POST /kube/filter", "POST /kube/prioritize",
                  "POST /kube/bind", "GET /standalone/pods/default/b", "GET /api/v1/pods"));
  const json& args = fake.bodies[3];
  EXPECT_EQ(args["Pod"]["metadata"]["uid"], "uid-default/a");
  EXPECT_FALSE(args["Pod"].contains("kind"));
  EXPECT_TRUE(args["Nodes"].is_null());
  EXPECT_EQ(args["NodeNames"], (json{"n1", "n2"}));
  EXPECT_EQ(fake.bodies[5], (json{{"PodName", "a"},
                                  {"PodNamespace", "default"},
                                  {"PodUID", "uid-default/a"},
                                  {"Node", "n1"}}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].node, "n1");  // equal scores: the first node
  EXPECT_THAT(rows[0].chips, ElementsAre(0, 3));
  EXPECT_EQ(rows[0].gbps, 40);
  EXPECT_EQ(rows[0].best_gbps, 80);
}

TEST(Submit, TheSchedulerSaysWhichResourceIsTheAccelerator) {
  FakeScheduler fake;
  auto given = pods({"a"});
  given[0].resources = {{"aaa.com/nic", 7}, {"nvidia.com/gpu", 2}};
  auto rows = run(fake, given);
  EXPECT_EQ(rows[0].resource, "nvidia.com/gpu");
  EXPECT_EQ(rows[0].requested, 2);

  FakeScheduler full;  // the same for a pod that stays pending
  full.filter = [](const json&) {
    return json{{"NodeNames", json::array()}, {"FailedNodes", {{"n1", "full"}}}, {"Error", ""}};
  };
  rows = run(full, given);
  EXPECT_FALSE(rows[0].placed());
  EXPECT_EQ(rows[0].resource, "nvidia.com/gpu");
  EXPECT_EQ(rows[0].requested, 2);
}

TEST(Submit, HighestScoreWins) {
  FakeScheduler fake;
  fake.prioritize = [](const json&) {
    return json::array({{{"Host", "n1"}, {"Score", 3}}, {{"Host", "n2"}, {"Score", 7}}});
  };
  EXPECT_EQ(run(fake, pods({"a"}))[0].node, "n2");
}

TEST(Submit, OneNodeIsNotScored) {
  FakeScheduler fake;
  fake.filter = [](const json&) {
    return json{{"NodeNames", {"n2"}}, {"FailedNodes", {{"n1", "full"}}}, {"Error", ""}};
  };
  EXPECT_EQ(run(fake, pods({"a"}))[0].node, "n2");
  EXPECT_THAT(fake.calls, testing::Not(testing::Contains("POST /kube/prioritize")));
}

TEST(Submit, PendingPodsSayWhy) {
  FakeScheduler fake;
  fake.filter = [](const json&) {
    return json{{"NodeNames", json::array()},
                {"FailedNodes", {{"n1", "too few free chips"}, {"n2", "too few free chips"}}},
                {"Error", ""}};
  };
  const auto rows = run(fake, pods({"a"}));
  EXPECT_FALSE(rows[0].placed());
  EXPECT_EQ(rows[0].reason, "0/2 nodes are available: 2 too few free chips");
  EXPECT_EQ(rows[0].requested, 2);

  FakeScheduler refusing;
  refusing.bind_error = "chips 0,3 were taken meanwhile";
  EXPECT_EQ(run(refusing, pods({"a"}))[0].reason, "chips 0,3 were taken meanwhile");

  FakeScheduler broken;
  broken.filter = [](const json&) { return json{{"Error", "inventory is not complete"}}; };
  EXPECT_EQ(run(broken, pods({"a"}))[0].reason, "inventory is not complete");

  FakeScheduler empty;
  empty.nodes = json::array();
  EXPECT_THAT(run(empty, pods({"a"}))[0].reason, HasSubstr("no nodes yet"));
  EXPECT_THAT(empty.calls, testing::Not(testing::Contains("POST /kube/filter")));
}

TEST(Submit, OthersArePlacedBesideAPodThatExists) {
  FakeScheduler fake;
  run(fake, pods({"a"}));
  const auto rows = run(fake, pods({"a", "b"}));
  EXPECT_TRUE(rows[0].existed);
  EXPECT_FALSE(rows[1].existed);
  EXPECT_TRUE(rows[1].placed());
}

TEST(Submit, OnlyTheNodesAskedFor) {
  FakeScheduler fake;
  SubmitOptions options;
  options.only_nodes = {"n2"};
  EXPECT_EQ(run(fake, pods({"a"}), options)[0].node, "n2");
  options.only_nodes = {"n9"};
  SchedulerClient client(fake.transport());
  const auto outcome = submit(client, pods({"b"}), options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().text(), HasSubstr("--node: unknown node \"n9\""));
}

TEST(Submit, HostnameSelectorNamesTheNode) {
  FakeScheduler fake;
  auto given = pods({"a", "b"});
  given[0].hostname = "n2";
  given[1].hostname = "n9";
  const auto rows = run(fake, given);
  EXPECT_EQ(rows[0].node, "n2");
  EXPECT_EQ(rows[1].reason, "its nodeSelector asks for node n9, which is not a candidate");
}

TEST(Submit, ASchedulerThatIsGoneIsAnError) {
  FakeScheduler fake;
  fake.gone = true;
  SchedulerClient client(fake.transport());
  EXPECT_FALSE(submit(client, pods({"a"}), {}).ok());
}

TEST(Submit, ComparesAGroupAsOne) {
  FakeScheduler fake;
  SubmitOptions options;
  options.compare = true;
  const auto rows = run(fake, pods({"a", "b"}, "job"), options);
  ASSERT_TRUE(rows[0].comparison.has_value());
  ASSERT_TRUE(rows[0].comparison->first_fit.has_value());
  EXPECT_THAT(rows[0].comparison->first_fit->chips, ElementsAre(0, 1, 2, 3));  // 2 + 2 chips
  EXPECT_THAT(rows[1].comparison->first_fit->chips, ElementsAre(0, 1, 2, 3));
  const auto single = run(fake, pods({"c"}), options);
  EXPECT_THAT(single[0].comparison->first_fit->chips, ElementsAre(0, 1));
}

TEST(SubmitReport, TextAndJson) {
  std::vector<SubmittedPod> rows(2);
  rows[0].ns = rows[1].ns = "default";
  rows[0].name = "a";
  rows[0].resource = rows[1].resource = "nvidia.com/gpu";
  rows[0].requested = 2;
  rows[0].node = "n1";
  rows[0].chips = {0, 3};
  rows[0].gbps = rows[0].best_gbps = 40;
  rows[0].comparison.emplace().pair_sum = OtherChoice{{0, 1}, 20, true};
  rows[0].comparison->first_fit = OtherChoice{{0, 1}, 20, false};
  rows[1].name = "b";
  rows[1].requested = 9;
  rows[1].reason = "9 chips asked, the machine has 8";
  EXPECT_EQ(submit_text(rows, true, false),
            "POD        NODE     CHIPS  GB/s  BEST GB/s  PAIR-SUM GB/s  FIRST-FIT GB/s\n"
            "default/a  n1       0,3      40         40             20         illegal\n"
            "default/b  pending  (9)\n"
            "Pending:\n"
            "  default/b: 9 chips asked, the machine has 8\n");
  EXPECT_EQ(submit_json(rows),
            "{\"pods\":[{\"namespace\":\"default\",\"name\":\"a\",\"resource\":\"nvidia.com/"
            "gpu\",\"requested\":2,"
            "\"node\":\"n1\",\"chips\":[0,3],\"gbps\":40.0,\"best_gbps\":40.0,\"reason\":\"\","
            "\"existed\":false,"
            "\"pair_sum\":{\"chips\":[0,1],\"gbps\":20.0,\"legal\":true},"
            "\"first_fit\":{\"chips\":[0,1],\"gbps\":20.0,\"legal\":false}},"
            "{\"namespace\":\"default\",\"name\":\"b\",\"resource\":\"nvidia.com/"
            "gpu\",\"requested\":9,\"node\":\"\","
            "\"chips\":[],\"gbps\":0.0,\"best_gbps\":0.0,\"reason\":\"9 chips asked, the machine "
            "has 8\",\"existed\":false}],"
            "\"placed\":1,\"pending\":1}\n");
}

}  // namespace
}  // namespace chipweave::cli
