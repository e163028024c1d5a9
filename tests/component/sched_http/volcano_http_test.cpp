// Volcano's verbs over real sockets.
#include "tests/component/sched_http/sched_http.hpp"
#include "tests/unit/codec_kube/captures.hpp"
#include "tests/unit/http/running_server.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

using codec::capture;

class VolcanoHttp : public SchedHttp {
 protected:
  static Json task(const Json& p, const std::string& node = "", int status = 1) {
    return {{"UID", p["metadata"]["uid"]},
            {"Name", p["metadata"]["name"]},
            {"Namespace", "ns"},
            {"NodeName", node},
            {"Status", status},
            {"Pod", p}};
  }
  static Json node(const std::string& name) {
    return {{"Name", name}, {"Node", {{"metadata", {{"name", name}}}}}, {"Tasks", Json::object()}};
  }
  Json ask(const std::string& verb, const Json& body) {
    const auto reply = call("POST", "/volcano/" + verb, body.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body);
  }
  Json predicate(const Json& p, const std::string& name) {
    return ask("predicate", {{"task", task(p)}, {"node", node(name)}});
  }
  std::string allocate(const Json& p, const std::string& name, int status = 2) {
    return ask("allocate", {{"task", task(p, name, status)}})["errorMessage"];
  }
  void deallocate(const Json& p, const std::string& name, int status = 1) {
    EXPECT_EQ(ask("deallocate", {{"task", task(p, name, status)}}), Json({{"errorMessage", ""}}));
  }
};

TEST_F(VolcanoHttp, PlaysASession) {
  add_node("n1", "hgx-v100-8");
  add_node("n2", "pcie-8");
  const Json a = create(pod("a", 4));
  EXPECT_EQ(predicate(a, "n1"), Json::object());
  EXPECT_EQ(predicate(a, "n2"), Json::object());
  const Json scores =
      ask("prioritize", {{"task", task(a)}, {"nodes", {node("n1"), node("n2"), node("n9")}}});
  EXPECT_EQ(scores["errorMessage"], "");
  EXPECT_EQ(scores["nodeScore"]["n1"], 2000) << "the whole range, at weight 20";
  EXPECT_LT(scores["nodeScore"].value("n2", 0), 2000);
  EXPECT_FALSE(scores["nodeScore"].contains("n9"));
  EXPECT_EQ(allocate(a, "n1"), "");
  const Json b = create(pod("b", 6));
  EXPECT_EQ(predicate(b, "n1"), Json({{"errorMessage", "not enough free chips"},
                                      {"status", "not enough free chips"},
                                      {"code", 2}}));
  EXPECT_EQ(allocate(b, "n1"), "pod ns/b no longer fits on node n1: not enough free chips");
  EXPECT_EQ(allocate(b, "n1", 4), "") << "pipelined: it waits for what is released";
  deallocate(a, "n1");
  EXPECT_EQ(predicate(b, "n1"), Json::object());
  deallocate(b, "n1", 64);
}

TEST_F(VolcanoHttp, SaysUnresolvableWhereNothingWouldHelp) {
  add_node("n1", "hgx-v100-8");
  EXPECT_EQ(predicate(create(pod("big", 16)), "n1")["code"], 3);
  EXPECT_EQ(predicate(create(pod("amd", 2, "amd.com/gpu")), "n1")["code"], 3);
  Json shared = pod("shared", 1, "nvidia.com/gpu.shared");
  shared["metadata"]["uid"] = "u";
  EXPECT_EQ(predicate(shared, "n1")["code"], 3) << "parts of chips are not served";
  EXPECT_EQ(predicate(create(pod("a", 1)), "n9")["code"], 3)
      << "no eviction makes its agent report";
}

TEST_F(VolcanoHttp, AnswersForPodsThatItHasNotSeenAndHoldsNothing) {
  add_node("n1", "hgx-v100-8");
  Json p = pod("early", 4);
  p["metadata"]["uid"] = "u";
  EXPECT_EQ(predicate(p, "n1"), Json::object());
  EXPECT_EQ(allocate(p, "n1"), "");
  const Json nodes = Json::parse(call("GET", "/api/v1/nodes").body);
  EXPECT_EQ(nodes["items"][0]["free"].size(), 8U);
}

TEST_F(VolcanoHttp, HasNoOpinionOfQueuesJobsAndSessions) {
  EXPECT_EQ(ask("jobReady", {{"job", {}}}), Json({{"status", true}}));
  EXPECT_EQ(ask("jobEnqueueable", {{"job", {}}}), Json({{"status", 0}}));
  EXPECT_EQ(ask("jobEnqueued", {{"job", {}}}), Json::object());
  EXPECT_EQ(ask("queueOverused", {{"queue", {}}}), Json({{"overused", false}}));
  for (const char* hook : {"onSessionOpen", "onSessionClose"}) {
    http::RawSocket socket(port_);
    socket.send("POST /volcano/" + std::string(hook) +
                " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
    const std::string reply = socket.read_reply();
    EXPECT_NE(reply.find("HTTP/1.1 200"), std::string::npos);
    EXPECT_NE(reply.find("Content-Length: 0\r\n"), std::string::npos)
        << "Volcano drops the connection otherwise: " << reply;
  }
}

TEST_F(VolcanoHttp, ChoosesVictimsAndRepeatsThemAsSent) {
  add_node("n1", "hgx-v100-8");
  add_node("n2", "hgx-v100-8");
  Json evictees = Json::array();
  for (const auto& [name, chips, where] :
       {std::tuple("small", 2, "n1"), {"large", 6, "n1"}, {"other", 8, "n2"}}) {
    const Json p = create(pod(name, chips));
    ASSERT_EQ(call("POST", "/kube/bind", binding(p, where)).body, R"({"Error":""})");
    evictees.push_back(task(p, where, 32));
    evictees.back()["Extra"] = {{"deep", {1, 2.5e9, nullptr}}};
  }
  const Json a = create(pod("a", 2));
  for (const char* verb : {"preemptable", "reclaimable"}) {
    const Json reply = ask(verb, {{"evictor", task(a)}, {"evictees", evictees}});
    EXPECT_EQ(reply["status"], 1);
    EXPECT_EQ(reply["victims"], Json({evictees[0], evictees[2]})) << "one on each node";
  }
  const Json none =
      ask("preemptable", {{"evictor", task(create(pod("b", 16)))}, {"evictees", evictees}});
  EXPECT_EQ(none, Json({{"status", 1}, {"victims", Json::array()}}));
  const Json abstain =
      ask("preemptable", {{"evictor", task(create(pod("c", 0)))}, {"evictees", evictees}});
  EXPECT_EQ(abstain["status"], 0);
}

TEST_F(VolcanoHttp, WhileStartingItSaysSoInEachVerbsWords) {
  add_node("n1", "hgx-v100-8");
  const Json a = create(pod("a", 4));
  post_and_wait(loop_, [&] { scheduler_.authority().set_waiting_for("starting"); });
  EXPECT_EQ(predicate(a, "n1"),
            Json({{"errorMessage", "starting"}, {"status", "starting"}, {"code", 2}}));
  EXPECT_EQ(ask("prioritize", {{"task", task(a)}, {"nodes", {node("n1")}}}),
            Json({{"nodeScore", Json::object()}, {"errorMessage", "starting"}}));
  EXPECT_EQ(allocate(a, "n1"), "starting");
  deallocate(a, "n1");
}

TEST_F(VolcanoHttp, BadBodiesAreErrors) {
  for (const char* verb :
       {"predicate", "prioritize", "allocate", "deallocate", "preemptable", "reclaimable"}) {
    for (const char* body : {"", "{", "[]", "{}", R"({"task":7})", R"({"evictor":[]})"}) {
      const auto reply = call("POST", std::string("/volcano/") + verb, body);
      EXPECT_EQ(reply.status, 400) << verb << " " << body;
      EXPECT_FALSE(Json::parse(reply.body)["error"]["message"].get<std::string>().empty());
    }
  }
  EXPECT_EQ(call("GET", "/volcano/predicate").status, 405);
  EXPECT_EQ(call("POST", "/volcano/bind", "{}").status, 404);
}

// The bodies of a real vc-scheduler; its resource is one that is not counted here.
TEST_F(VolcanoHttp, TakesWhatVolcanoSends) {
  for (const char* verb : {"predicate", "prioritize", "prioritize-null-nodes", "allocate",
                           "deallocate", "preemptable", "reclaimable", "jobReady", "jobEnqueueable",
                           "queueOverused", "onSessionOpen", "onSessionClose"}) {
    const auto body = capture("volcano-" + std::string(verb) + ".json");
    if (!body) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
    std::string path = verb;
    path.resize(std::min(path.find('-'), path.size()));
    const auto reply = call("POST", "/volcano/" + path, *body);
    EXPECT_EQ(reply.status, 200) << verb << " " << reply.body;
    if (path.starts_with("onSession")) {
      EXPECT_EQ(reply.body, "");
    } else {
      EXPECT_TRUE(Json::parse(reply.body).is_object()) << verb;
    }
    if (path == "prioritize") {
      EXPECT_EQ(Json::parse(reply.body)["errorMessage"], "");
    }
  }
}

}  // namespace
}  // namespace chipweave::sched
