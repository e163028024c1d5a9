// A scheduler's HTTP side that works for memory, on a loop of its own, and short words to ask it;
// shared by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "common/http/client.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/server/http_front.hpp"
#include "tests/component/sched_http/gated_cluster.hpp"

namespace chipweave::sched {

using Json = nlohmann::json;

class SchedHttp : public ::testing::Test {
 public:
  ~SchedHttp() override {
    loop_.post([&] { front_.drain(std::chrono::milliseconds(500), [&] { loop_.stop(); }); });
    thread_.join();
  }

 protected:
  SchedHttp()
      : metrics_("test"),
        scheduler_(clock_, gate_, metrics_),
        front_(loop_, options(), scheduler_, {&cluster_, nullptr}, metrics_, resources_, "test",
               {}) {
    cluster_.set_listener(&scheduler_);
    port_ = front_.start().value();
    front_.set_ready(true);
    thread_ = std::thread([this] { loop_.run(); });
  }
  static http::ServerOptions options() { return {}; }

  void add_node(const std::string& name, const std::string& machine) {
    loop_.post_and_wait([&] {
      InventoryReport r;
      r.node = name;
      r.boot_id = "b";
      r.sequence = 1;
      r.machine = machine;
      r.topology = codec::import_topology_json(profiles::find(machine)->json, {}).value().topology;
      EXPECT_EQ(scheduler_.report(std::move(r)), ReportOutcome::taken);
    });
  }
  http::Client client() {
    return http::Client::connect_to("127.0.0.1:" + std::to_string(port_)).value();
  }
  http::Reply call(const std::string& method, const std::string& path,
                   const std::string& body = "") {
    auto c = client();
    return c.call(method, path, body).value();
  }
  static Json pod(const std::string& name, int chips,
                  const std::string& resource = "nvidia.com/gpu") {
    Json p = {{"metadata", {{"name", name}, {"namespace", "ns"}}},
              {"spec", {{"containers", Json::array({Json{{"name", "c"}}})}}}};
    if (chips > 0)
      p["spec"]["containers"][0]["resources"]["limits"][resource] = std::to_string(chips);
    return p;
  }
  Json create(const Json& p) {
    const auto reply = call("POST", "/standalone/pods", p.dump());
    EXPECT_EQ(reply.status, 201) << reply.body;
    return Json::parse(reply.body);
  }
  static std::string args(const Json& p, const std::vector<std::string>& nodes) {
    return Json{{"Pod", p}, {"Nodes", nullptr}, {"NodeNames", nodes}}.dump();
  }
  static std::string binding(const Json& p, const std::string& node) {
    return Json{{"PodName", p["metadata"]["name"]},
                {"PodNamespace", p["metadata"]["namespace"]},
                {"PodUID", p["metadata"]["uid"]},
                {"Node", node}}
        .dump();
  }

  SystemClock clock_;
  http::Loop loop_;
  MemoryCluster cluster_;
  testing::GatedCluster gate_{cluster_};
  Metrics metrics_;
  Scheduler scheduler_;
  ResourceTable resources_;
  HttpFront front_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace chipweave::sched
