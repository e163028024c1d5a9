// SchedHttp — a scheduler's HTTP server with an in-memory cluster, on a loop of its own, and
// shorthands for requests. Shared by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/http/client.hpp"
#include "scheduler-plugin/server/http_front.hpp"
#include "tests/component/sched_http/gated_cluster.hpp"

namespace chipweave::sched {

using Json = nlohmann::json;

class SchedHttp : public ::testing::Test {
 public:
  ~SchedHttp() override;

 protected:
  explicit SchedHttp(CallerRules callers = {}, http::ServerOptions server = {});

  void add_node(const std::string& name, const std::string& machine);
  http::Client client();
  http::Reply call(const std::string& method, const std::string& path,
                   const std::string& body = "");
  static Json pod(const std::string& name, int chips,
                  const std::string& resource = "nvidia.com/gpu");
  // The pod with the uid that the cluster gave it.
  Json create(const Json& p);
  // ExtenderArgs of filter and prioritize.
  static std::string args(const Json& p, const std::vector<std::string>& nodes);
  // ExtenderBindingArgs.
  static std::string binding(const Json& p, const std::string& node);

  SystemClock clock_;
  http::Loop loop_;
  MemoryCluster cluster_;
  test::GatedCluster gate_{cluster_};
  Metrics metrics_;
  Scheduler scheduler_;
  ResourceTable resources_;
  HttpFront front_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace chipweave::sched
