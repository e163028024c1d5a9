#include "tests/component/sched_http/sched_http.hpp"

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {

SchedHttp::SchedHttp(CallerRules callers, http::ServerOptions server)
    : metrics_("test"),
      scheduler_(clock_, gate_, metrics_),
      front_(loop_, std::move(server), scheduler_, {&cluster_, nullptr}, metrics_, resources_,
             "test", {20, std::move(callers), {}}) {
  cluster_.set_listener(&scheduler_.reconciler());
  port_ = front_.start().value();
  front_.set_ready(true);
  thread_ = std::thread([this] { loop_.run(); });
}

SchedHttp::~SchedHttp() {
  loop_.post([&] { front_.drain(std::chrono::milliseconds(500), [&] { loop_.stop(); }); });
  thread_.join();
}

void SchedHttp::add_node(const std::string& name, const std::string& machine) {
  post_and_wait(loop_, [&] {
    InventoryReport r;
    r.node = name;
    r.boot_id = "b";
    r.sequence = 1;
    r.machine = machine;
    r.topology = codec::import_topology_json(profiles::find(machine)->json, {}).value().topology;
    EXPECT_EQ(scheduler_.report(std::move(r)), ReportOutcome::taken);
  });
}

http::Client SchedHttp::client() {
  return http::Client::connect_to("127.0.0.1:" + std::to_string(port_)).value();
}

http::Reply SchedHttp::call(const std::string& method, const std::string& path,
                            const std::string& body) {
  auto c = client();
  return c.call(method, path, body).value();
}

Json SchedHttp::pod(const std::string& name, int chips, const std::string& resource) {
  Json p = {{"metadata", {{"name", name}, {"namespace", "ns"}}},
            {"spec", {{"containers", Json::array({Json{{"name", "c"}}})}}}};
  if (chips > 0)
    p["spec"]["containers"][0]["resources"]["limits"][resource] = std::to_string(chips);
  return p;
}

Json SchedHttp::create(const Json& p) {
  const auto reply = call("POST", "/standalone/pods", p.dump());
  EXPECT_EQ(reply.status, 201) << reply.body;
  return Json::parse(reply.body);
}

std::string SchedHttp::args(const Json& p, const std::vector<std::string>& nodes) {
  return Json{{"Pod", p}, {"Nodes", nullptr}, {"NodeNames", nodes}}.dump();
}

std::string SchedHttp::binding(const Json& p, const std::string& node) {
  return Json{{"PodName", p["metadata"]["name"]},
              {"PodNamespace", p["metadata"]["namespace"]},
              {"PodUID", p["metadata"]["uid"]},
              {"Node", node}}
      .dump();
}

}  // namespace chipweave::sched
