// The scheduler's HTTP side over real sockets: bodies as kube-scheduler sends them, errors, views,
// and many clients at once.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "common/base/limits.hpp"
#include "common/domain/topology_builder.hpp"
#include "tests/component/sched_http/sched_http.hpp"
#include "tests/unit/http/running_server.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

TEST_F(SchedHttp, PlaysTheWholeCycle) {
  add_node("n1", "hgx-v100-8");
  add_node("n2", "pcie-8");
  const Json p = create(pod("w-0", 4));
  EXPECT_FALSE(p["metadata"]["uid"].get<std::string>().empty());
  const Json filtered = Json::parse(call("POST", "/kube/filter", args(p, {"n2", "n1", "n9"})).body);
  EXPECT_EQ(filtered, Json::parse(
                          R"({"Nodes":null,"NodeNames":["n2","n1"],"FailedNodes":{},
              "FailedAndUnresolvableNodes":{"n9":"inventory not received"},"Error":""})"));
  const std::string scored = call("POST", "/kube/prioritize", args(p, {"n2", "n1"})).body;
  EXPECT_EQ(scored.find('.'), std::string::npos);  // integers only
  const Json scores = Json::parse(scored);
  EXPECT_EQ(scores[1]["Host"], "n1");
  EXPECT_EQ(scores[1]["Score"], 10);
  EXPECT_LT(scores[0]["Score"].get<int>(), 10);
  const Json reserved = Json::parse(call("GET", "/api/v1/nodes").body);
  EXPECT_EQ(reserved["items"][0]["used"]["ns/w-0"].size(), 4U);  // a reserved chip counts as used
  EXPECT_EQ(call("POST", "/kube/bind", binding(p, "n1")).body, R"({"Error":""})");
  EXPECT_EQ(call("POST", "/kube/bind", binding(p, "n1")).body, R"({"Error":""})");
  EXPECT_NE(Json::parse(call("POST", "/kube/bind", binding(p, "n2")).body)["Error"], "");
  const Json bound = Json::parse(call("GET", "/standalone/pods/ns/w-0").body);
  EXPECT_EQ(bound["spec"]["nodeName"], "n1");
  const Json placement =
      Json::parse(bound["metadata"]["annotations"]["chipweave.dev/placement"].get<std::string>());
  EXPECT_EQ(placement["podUid"], p["metadata"]["uid"]);
  EXPECT_EQ(placement["chips"].size(), 4U);
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/explain/ns/w-0").body)["state"], "bound");
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/pods").body)["items"][0]["state"], "bound");
  EXPECT_EQ(call("DELETE", "/standalone/pods/ns/w-0").status, 200);
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/nodes").body)["items"][0]["free"].size(), 8U);
}

TEST_F(SchedHttp, ShowsTheGangThatAPodNames) {
  add_node("n1", "hgx-v100-8");
  create(pod("alone", 1));
  Json member = pod("train-worker-3", 1);
  member["metadata"]["labels"] = {{"volcano.sh/job-name", "train"},
                                  {"volcano.sh/task-spec", "worker"}};
  member["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", "train-7c9"}};
  create(member);
  Json wrong = pod("wrong", 1);
  wrong["metadata"]["labels"] = {{"chipweave.dev/gang", "g"}, {"chipweave.dev/gang-size", "some"}};
  create(wrong);
  const Json volcano{
      {"framework", "volcano"}, {"name", "train-7c9"}, {"role", "worker"}, {"index", 3}};
  const Json pods = Json::parse(call("GET", "/api/v1/pods").body)["items"];
  EXPECT_FALSE(pods[0].contains("gang"));
  EXPECT_EQ(pods[1]["gang"], volcano);
  EXPECT_EQ(pods[2]["gang"]["problem"],
            "chipweave.dev/gang-size is \"some\"; expected a number from 1 to 10000");
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/explain/ns/train-worker-3").body)["gang"], volcano);
  EXPECT_FALSE(Json::parse(call("GET", "/api/v1/explain/ns/alone").body).contains("gang"));
}

TEST_F(SchedHttp, ShowsWhatIsWrongWithANodeAndWhatIsDown) {
  domain::TopologyBuilder b;
  for (const int i : {2, 3}) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    chip.health = i == 3 ? domain::Health::unhealthy : domain::Health::healthy;
    b.add_chip(std::move(chip));
  }
  b.add_switch("nvswitch", domain::LinkKind::nvswitch,
               {{domain::ChipIndex{2}, 18, 0}, {domain::ChipIndex{3}, 18, 4}});
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "b";
  r.sequence = 1;
  r.resources = {"nvidia.com/gpu"};
  r.topology = std::move(b).build().value();
  domain::Fault lost;
  lost.code = "nvml.lost";
  lost.effect = domain::Effect::unusable;
  lost.chip = domain::ChipIndex{3};
  lost.text = "has fallen off the bus";
  lost.since = 1767323045123;
  lost.held_until = domain::kHeldUntilReset;
  domain::Fault nic;
  nic.code = "nic.down";
  nic.effect = domain::Effect::link;
  nic.part = "mlx5_1";
  nic.held_until = 1767323055000;
  r.faults = {lost, nic};
  post_and_wait(loop_, [&] { EXPECT_EQ(scheduler_.report(r), ReportOutcome::taken); });

  const Json all = Json::parse(call("GET", "/api/v1/nodes").body)["items"];
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["down_links"], Json::array());
  EXPECT_EQ(all[0]["down_ports"], Json::parse(R"([{"chip":3,"switch":"nvswitch","lanes":4}])"));
  EXPECT_EQ(all[0]["down_nics"], Json::parse(R"(["mlx5_1"])"));
  EXPECT_EQ(all[0]["faults"], Json::parse(R"([
    {"code":"nvml.lost","effect":"unusable","chip":3,"where":"chip 3",
     "text":"has fallen off the bus","since":"2026-01-02T03:04:05Z","until_reset":true},
    {"code":"nic.down","effect":"link","part":"mlx5_1","where":"mlx5_1","text":"",
     "since":"1970-01-01T00:00:00Z","held_until":"2026-01-02T03:04:15Z"}])"));
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/nodes/n1").body)["faults"], all[0]["faults"]);
  EXPECT_EQ(call("GET", "/api/v1/nodes/n2").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/nodes/").status, 404);

  // Other changes leave them unchanged; an empty list ends them.
  r.topology.reset();
  r.faults.reset();
  r.sequence = 2;
  r.chips = {{domain::ChipIndex{2}, domain::Health::network_unhealthy}};
  post_and_wait(loop_, [&] { EXPECT_EQ(scheduler_.report(r), ReportOutcome::taken); });
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/nodes/n1").body)["faults"].size(), 2U);
  r.sequence = 3;
  r.faults.emplace();
  post_and_wait(loop_, [&] { EXPECT_EQ(scheduler_.report(r), ReportOutcome::taken); });
  const Json after = Json::parse(call("GET", "/api/v1/nodes/n1").body);
  EXPECT_EQ(after["faults"], Json::array());
  EXPECT_EQ(after["down_nics"], Json::array());
}

constexpr const char* kNoVictims = R"({"NodeNameToMetaVictims":{}})";

TEST_F(SchedHttp, AReplicaThatCannotDecideClosesConnectionsOfCallers) {
  const auto ask = [&](http::RawSocket& socket, const std::string& method, const std::string& path,
                       const std::string& body = "") {
    socket.send(method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    return socket.read_reply();
  };
  const std::string question = args(pod("w", 1), {"n1"});
  const std::string late = binding(create(pod("w-0", 1)), "n1");
  http::RawSocket kept(port_);
  http::RawSocket stays(port_);
  EXPECT_EQ(ask(kept, "POST", "/kube/filter", question).find("Connection: close"),
            std::string::npos);
  post_and_wait(loop_, [&] { scheduler_.authority().set_waiting_for("starting"); });
  EXPECT_EQ(ask(stays, "GET", "/api/v1/pods").find("Connection: close"), std::string::npos);
  EXPECT_EQ(ask(stays, "GET", "/readyz").find("Connection: close"), std::string::npos);
  EXPECT_NE(ask(kept, "POST", "/kube/filter", question).find("Connection: close"),
            std::string::npos);
  EXPECT_NE(ask(stays, "POST", "/kube/bind", late).find("Connection: close"), std::string::npos);
  EXPECT_EQ(call("POST", "/kube/preempt", "{}").body, kNoVictims);
}

TEST_F(SchedHttp, AnswersFullNodeListsWithTheNodesThatFit) {
  add_node("n1", "hgx-v100-8");
  const std::string node = R"({"metadata": {"name":"n1","labels":{"a":"b"}},"spec":{}})";
  const std::string body = R"({"Pod":)" + pod("w", 1).dump() +
                           R"(,"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n9"}},)" +
                           node + R"(]},"NodeNames":null})";
  const auto reply = call("POST", "/kube/filter", body);
  const Json j = Json::parse(reply.body);
  ASSERT_EQ(j["Nodes"]["items"].size(), 1U);
  EXPECT_EQ(j["Nodes"]["items"][0], Json::parse(node));
  EXPECT_EQ(j["FailedAndUnresolvableNodes"]["n9"], "inventory not received");
}

// The reply is as large as the request, and both count toward what all connections may hold.
TEST_F(SchedHttp, FullNodeListsOfAlmostTheLimitAreAnswered) {
  add_node("n1", "hgx-v100-8");
  const Json p = create(pod("w-0", 4));
  const std::string node = R"({"metadata":{"name":"n1","annotations":{"a":")" +
                           std::string(limits::kMaxHttpBodyBytes - (1U << 20U), 'a') + R"("}}})";
  const std::string body = R"({"Pod":)" + p.dump() +
                           R"(,"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n9"}},)" +
                           node + R"(]},"NodeNames":null})";
  const std::string answer = call("POST", "/kube/filter", body).body;
  EXPECT_GT(answer.size(), node.size()) << answer;
}

// Bodies of more than 2 MiB are read by another thread.
TEST_F(SchedHttp, LargeBodiesAreAnsweredAsSmallOnes) {
  add_node("n1", "hgx-v100-8");
  add_node("n2", "hgx-v100-8");
  const Json p = create(pod("w-0", 4));
  const auto answer = [&](const std::string& verb, std::size_t padding) {
    Json nodes = Json::array();
    for (const char* name : {"n2", "n9", "n1"})
      nodes.push_back({{"metadata", {{"name", name}, {"x", std::string(padding, 'x')}}}});
    const Json victim = {{"metadata", {{"uid", "u"}, {"x", std::string(padding, 'x')}}}};
    const Json body = {{"Pod", p},
                       {"Nodes", {{"items", nodes}}},
                       {"NodeNames", nullptr},
                       {"NodeNameToVictims", {{"n1", {{"Pods", {victim}}}}}}};
    Json reply = Json::parse(call("POST", "/kube/" + verb, body.dump()).body);
    if (verb == "filter") {
      for (Json& node : reply["Nodes"]["items"])
        EXPECT_EQ(node["metadata"].at("x").get<std::string>().size(), padding);
      for (Json& node : reply["Nodes"]["items"]) node["metadata"].erase("x");
    }
    return reply;
  };
  constexpr std::size_t kLarge = 3U << 20U;
  for (const char* verb : {"filter", "prioritize", "preempt"})
    EXPECT_EQ(answer(verb, kLarge), answer(verb, 1)) << verb;
  EXPECT_EQ(answer("filter", kLarge)["Nodes"]["items"].size(), 2U);
  EXPECT_EQ(Json::parse(call("POST", "/kube/filter", std::string(kLarge, '[')).body)["Nodes"],
            nullptr);
}

TEST_F(SchedHttp, PutsRejectionsIntoTheRightMap) {
  add_node("n1", "ascend-910a-8");
  add_node("n2", "ascend-910a-8");
  const Json filler = create(pod("filler", 8, "huawei.com/Ascend910"));
  EXPECT_EQ(call("POST", "/kube/bind", binding(filler, "n1")).body, R"({"Error":""})");
  const Json busy = Json::parse(
      call("POST", "/kube/filter", args(pod("a", 4, "huawei.com/Ascend910"), {"n1", "n2"})).body);
  EXPECT_EQ(busy["FailedNodes"]["n1"], "not enough free chips");
  EXPECT_TRUE(busy["FailedAndUnresolvableNodes"].empty());
  const Json never = Json::parse(
      call("POST", "/kube/filter", args(pod("b", 5, "huawei.com/Ascend910"), {"n1", "n2"})).body);
  EXPECT_TRUE(never["FailedNodes"].empty());
  EXPECT_EQ(never["FailedAndUnresolvableNodes"].size(), 2U);
  EXPECT_EQ(never["FailedAndUnresolvableNodes"]["n1"], never["FailedAndUnresolvableNodes"]["n2"]);
  const Json shared = Json::parse(
      call("POST", "/kube/filter", args(pod("c", 3, "aliyun.com/gpu-mem"), {"n1"})).body);
  EXPECT_TRUE(shared["NodeNames"].empty());
  const std::string why = shared["FailedAndUnresolvableNodes"]["n1"];
  EXPECT_NE(why.find("aliyun.com/gpu-mem"), std::string::npos);
  EXPECT_EQ(shared["Error"], "");
}

TEST_F(SchedHttp, PreemptionKeepsNodesWhereTheVictimsMakeRoom) {
  add_node("n1", "hgx-v100-8");
  add_node("n2", "hgx-v100-8");
  std::map<std::string, Json> victims;
  for (const char* node : {"n1", "n2"}) {
    for (const char* size : {"-a", "-b"}) {
      const std::string name = std::string("low-") + node + size;
      victims[name] = create(pod(name, 4));
      ASSERT_EQ(call("POST", "/kube/bind", binding(victims[name], node)).body, R"({"Error":""})");
    }
  }
  const auto uid = [&](const std::string& name) {
    return Json{{"UID", victims[name]["metadata"]["uid"]}};
  };
  const Json request = {
      {"Pod", pod("high", 8)},
      {"NodeNameToVictims", nullptr},
      {"NodeNameToMetaVictims",
       {{"n1", {{"Pods", {uid("low-n1-a"), uid("low-n1-b")}}, {"NumPDBViolations", 1}}},
        {"n2", {{"Pods", {uid("low-n2-a")}}, {"NumPDBViolations", 0}}}}}};
  const Json j = Json::parse(call("POST", "/kube/preempt", request.dump()).body);
  EXPECT_EQ(j, (Json{{"NodeNameToMetaVictims", {{"n1", request["NodeNameToMetaVictims"]["n1"]}}}}));
}

TEST_F(SchedHttp, BadRequestsAreAnsweredAsTheirVerbAllows) {
  for (const char* body : {"", "{", "[]", "{}", R"({"Pod":null})"}) {
    const auto filter = call("POST", "/kube/filter", body);
    EXPECT_EQ(filter.status, 200);
    EXPECT_NE(Json::parse(filter.body)["Error"], "") << body;
    const auto bind = call("POST", "/kube/bind", body);
    EXPECT_EQ(bind.status, 200);
    EXPECT_NE(Json::parse(bind.body)["Error"], "") << body;
    EXPECT_EQ(call("POST", "/kube/prioritize", body).status, 400);
    const auto preempt = call("POST", "/kube/preempt", body);
    EXPECT_EQ(preempt.status, 200);
    EXPECT_EQ(preempt.body, kNoVictims) << body;
  }
}

TEST_F(SchedHttp, PathsAndMethods) {
  const auto unknown = call("GET", "/nowhere");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(Json::parse(unknown.body)["error"]["code"], "not_found");
  EXPECT_EQ(call("GET", "/kube/filter").status, 405);
  EXPECT_EQ(call("DELETE", "/standalone/pods").status, 405);
  http::RawSocket raw(port_);
  raw.send("DELETE /standalone/pods HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(raw.read_reply().find("\r\nAllow: POST, GET\r\n"), std::string::npos);
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  EXPECT_EQ(Json::parse(call("GET", "/version").body)["version"], "test");
  EXPECT_EQ(call("GET", "/standalone/pods/ns/ghost").status, 404);
  EXPECT_EQ(call("DELETE", "/standalone/pods/ns/ghost").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/explain/ns/ghost").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/explain/ghost").status, 404);
  create(pod("p", 1));
  EXPECT_EQ(call("POST", "/standalone/pods", pod("p", 1).dump()).status, 409);
  EXPECT_EQ(call("POST", "/standalone/pods", pod("Bad_Name", 1).dump()).status, 400);
  EXPECT_EQ(call("POST", "/standalone/pods", "no json").status, 400);
  EXPECT_EQ(Json::parse(call("GET", "/standalone/pods").body)["items"].size(), 1U);
}

struct WithClientCa : SchedHttp {
  WithClientCa() : SchedHttp({true, true, {}, nullptr}) {}
};

TEST_F(WithClientCa, UnauthorisedCallersSeeOnlyTheProbes) {
  const auto status = [this](std::string_view method, std::string_view path) {
    int got = 0;
    post_and_wait(loop_, [&] {
      const http::RequestHead head{method, path, "", false};
      const http::HeadVerdict verdict = front_.check(head);
      if (const auto* refused = std::get_if<http::Response>(&verdict)) {
        got = refused->status;
        return;
      }
      std::string body;
      got = std::get<http::Response>(front_.handle({head, body})).status;
    });
    return got;
  };
  EXPECT_EQ(status("GET", "/healthz"), 200);
  EXPECT_EQ(status("GET", "/readyz"), 200);
  EXPECT_EQ(status("POST", "/healthz"), 405);
  for (const char* path : {"/version", "/metrics", "/api/v1/nodes", "/healthz/", "/", "/nothing"})
    EXPECT_EQ(status("GET", path), 401) << path;
  EXPECT_EQ(status("POST", "/kube/filter"), 401);
  EXPECT_EQ(status("DELETE", "/standalone/pods/ns/p"), 401);
}

TEST_F(SchedHttp, EachPathHasItsOwnBodyLimit) {
  const auto limit = [this](std::string_view method, std::string_view path) {
    std::size_t got = 0;
    post_and_wait(loop_, [&] {
      got = std::get<http::AcceptedHead>(front_.check({method, path, "", true})).max_body;
    });
    return got;
  };
  for (const char* path : {"/kube/filter", "/kube/prioritize", "/kube/preempt",
                           "/volcano/predicate", "/volcano/onSessionOpen"})
    EXPECT_EQ(limit("POST", path), 64U << 20U) << path;
  for (const char* path : {"/kube/bind", "/admission/binding", "/volcano/deallocate",
                           "/volcano/allocate", "/standalone/pods"})
    EXPECT_EQ(limit("POST", path), 1U << 20U) << path;
  for (const char* path : {"/metrics", "/api/v1/nodes", "/kube/filter", "/nothing"})
    EXPECT_EQ(limit("GET", path), 64U << 10U) << path;
  for (const char* path : {"/healthz", "/readyz", "/readyz/standby"}) {
    EXPECT_EQ(limit("GET", path), 0U) << path << ": nobody has to prove anything there";
    EXPECT_EQ(limit("POST", path), 0U) << path;
  }
  EXPECT_EQ(limit("DELETE", "/standalone/pods/ns/p"), 64U << 10U);
  EXPECT_EQ(call("POST", "/admission/binding", std::string((1U << 20U) + 1, ' ')).status, 413);
}

// kube-scheduler writes the URL of a reply with another status, and so its secret, into the pod's
// event.
TEST_F(SchedHttp, KubeSchedulerGetsTheServersRefusalsInItsOwnForm) {
  const auto refused = [this](const std::string& verb) {
    http::RawSocket socket(port_);
    socket.send("POST /kube/" + verb + " HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
    const std::string reply = socket.read_to_close();
    EXPECT_EQ(http::status_of(reply), "HTTP/1.1 200") << verb;
    return Json::parse(http::body_of(reply));
  };
  const std::string why = "the request body is larger than the server's limit";
  EXPECT_EQ(refused("filter"), Json::parse(R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,)"
                                           R"("FailedAndUnresolvableNodes":null,"Error":")" +
                                           why + "\"}"));
  EXPECT_EQ(refused("bind"), (Json{{"Error", why}}));
  EXPECT_EQ(refused("prioritize"), Json::array());
  EXPECT_EQ(refused("preempt").dump(), kNoVictims);
}

TEST_F(SchedHttp, ListsCanBeReadByPages) {
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) add_node(name, "hgx-v100-8");
  for (const char* name : {"p1", "p2", "p3", "p4"}) create(pod(name, 1));
  for (const std::string path : {"/api/v1/nodes", "/api/v1/pods"}) {
    const Json whole = Json::parse(call("GET", path).body);
    EXPECT_FALSE(whole.contains("continue"));
    Json items = Json::array();
    std::string next = path + "?limit=2";
    int pages = 0;
    while (!next.empty()) {
      const Json page = Json::parse(call("GET", next).body);
      ++pages;
      EXPECT_LE(page["items"].size(), 2U);
      for (Json item : page["items"]) items.push_back(std::move(item));
      next = page.contains("continue")
                 ? path + "?limit=2&continue=" + page["continue"].get<std::string>()
                 : "";
    }
    EXPECT_EQ(pages, path == "/api/v1/nodes" ? 3 : 2) << path;
    ASSERT_EQ(items.size(), whole["items"].size()) << path;
    for (std::size_t i = 0; i < items.size(); ++i)
      EXPECT_EQ(items[i]["name"], whole["items"][i]["name"]) << path;
    EXPECT_EQ(call("GET", path + "?limit=many").status, 400);
    EXPECT_EQ(call("GET", path + "?continue=1-1").status, 400);  // of another process
    EXPECT_EQ(Json::parse(call("GET", path + "?limit=0").body)["items"].size(), items.size());
  }
}

TEST_F(SchedHttp, MetricsShowWhatHappened) {
  add_node("n1", "hgx-v100-8");
  const Json p = create(pod("p", 2));
  call("POST", "/kube/filter", args(p, {"n1", "n9"}));
  call("POST", "/kube/bind", binding(p, "n1"));
  const std::string text = call("GET", "/metrics").body;
  for (const char* line :
       {"chipweave_chips{node=\"n1\",state=\"free\"} 6",
        "chipweave_chips{node=\"n1\",state=\"used\"} 2",
        "chipweave_rejected_nodes_total{reason=\"unknown_node\"} 1",
        "chipweave_reservations_total{event=\"confirmed\"} 1", "chipweave_pods{state=\"bound\"} 1",
        "chipweave_largest_placeable_chips{node=\"n1\"} 6",
        "chipweave_decisions_total{result=\"fits\",verb=\"bind\"} 1"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

// Bindings are requested in parallel, each on its own connection, as kube-scheduler does. If one
// had to wait for another to be answered or even started, none would ever finish.
TEST_F(SchedHttp, SixtyBindsAreUnderWayAtOnce) {
  constexpr std::size_t kBinds = 60;
  const std::vector<std::string> nodes{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};
  for (const auto& n : nodes) add_node(n, "hgx-v100-8");
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < kBinds; ++i)
    bodies.push_back(binding(create(pod("p" + std::to_string(i), 1)), nodes[i % nodes.size()]));
  post_and_wait(loop_, [&] { gate_.hold_until(kBinds); });
  std::vector<std::unique_ptr<http::RawSocket>> sockets;
  for (const std::string& body : bodies) {
    sockets.push_back(std::make_unique<http::RawSocket>(port_));
    sockets.back()->send("POST /kube/bind HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  for (const auto& socket : sockets)
    EXPECT_EQ(http::body_of(socket->read_reply()), R"({"Error":""})");
  for (const auto& socket : sockets) {  // they serve on after a late reply
    socket->send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(http::status_of(socket->read_reply()), "HTTP/1.1 200");
  }
  post_and_wait(loop_, [&] {
    EXPECT_EQ(scheduler_.check_invariants(), "");
    EXPECT_EQ(scheduler_.records().in_flight(), 0U);
  });
}

// 64 clients filter, prioritize, bind and delete at once; every "bound" answer is checked against
// all others.
TEST_F(SchedHttp, ManyClientsNeverGetOneChipTwice) {
  const std::vector<std::string> nodes{"n1", "n2", "n3", "n4"};
  for (const auto& n : nodes) add_node(n, "hgx-v100-8");
  std::atomic<int> bound{0};
  std::atomic<int> doubles{0};
  std::mutex mutex;
  std::map<std::pair<std::string, int>, std::string> owner;  // as the clients see it
  const auto client_life = [&](int id) {
    std::mt19937 random(static_cast<unsigned>(id));
    auto c = client();
    for (int round = 0; round < 6; ++round) {
      const std::string name = "p" + std::to_string(id) + "-" + std::to_string(round);
      const Json p = Json::parse(
          c.call("POST", "/standalone/pods", pod(name, 1 + static_cast<int>(random() % 4)).dump())
              .value()
              .body);
      const Json f = Json::parse(c.call("POST", "/kube/filter", args(p, nodes)).value().body);
      const auto fit = f["NodeNames"].get<std::vector<std::string>>();
      if (fit.size() > 1)
        static_cast<void>(c.call("POST", "/kube/prioritize", args(p, fit)).value());
      const std::string node = fit.empty() ? nodes[random() % 4] : fit[random() % fit.size()];
      const Json b = Json::parse(c.call("POST", "/kube/bind", binding(p, node)).value().body);
      if (b["Error"].get<std::string>().empty()) {
        ++bound;
        const Json got = Json::parse(c.call("GET", "/standalone/pods/ns/" + name, "").value().body);
        const Json placement = Json::parse(
            got["metadata"]["annotations"]["chipweave.dev/placement"].get<std::string>());
        const std::lock_guard lock(mutex);
        for (const Json& chip : placement["chips"]) {
          if (!owner.try_emplace({node, chip["index"].get<int>()}, name).second) ++doubles;
        }
      }
      if (random() % 2 == 0) {
        {
          const std::lock_guard lock(mutex);
          std::erase_if(owner, [&](const auto& e) { return e.second == name; });
        }
        static_cast<void>(c.call("DELETE", "/standalone/pods/ns/" + name, "").value());
      }
    }
  };
  std::vector<std::thread> clients;
  clients.reserve(64);
  for (int i = 0; i < 64; ++i) clients.emplace_back(client_life, i);
  for (auto& t : clients) t.join();
  EXPECT_EQ(doubles, 0);
  EXPECT_GE(bound, 8);
  std::string wrong = "not checked";
  post_and_wait(loop_, [&] { wrong = scheduler_.check_invariants(); });
  EXPECT_EQ(wrong, "");
}

}  // namespace
}  // namespace chipweave::sched
