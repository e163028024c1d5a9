// HttpFront — the scheduler's HTTP side: which path leads to which handler, and the server it all
// runs on.
//
// Owner: the loop thread. Requests are handled one at a time as they arrive; the only queue is the
// kernel's and the server's bounded set of connections, so overload is refused at accept instead of
// piling up here.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/server.hpp"
#include "scheduler-plugin/server/admission_handler.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "scheduler-plugin/server/kube_extender_handler.hpp"
#include "scheduler-plugin/server/metrics.hpp"
#include "scheduler-plugin/server/standalone_handler.hpp"
#include "scheduler-plugin/server/volcano_extender_handler.hpp"

namespace chipweave::sched {

class HttpFront {
 public:
  // What the scheduler works for: one of both. standalone: where pods are posted.
  struct Backend {
    MemoryCluster* standalone = nullptr;
    const Kubernetes* kubernetes = nullptr;
  };
  struct Options {
    int volcano_weight = 20;      // see VolcanoExtenderHandler
    bool open_admission = false;  // also for clients without the certificate that is asked for
  };
  // backend and resources must outlive the front.
  HttpFront(http::Loop& loop, http::ServerOptions server, Scheduler& scheduler, Backend backend,
            Metrics& metrics, const ResourceTable& resources, std::string version, Options options);

  Result<std::uint16_t> start();
  // /readyz says no from now on; then the server drains.
  void drain(std::chrono::milliseconds grace, std::function<void()> done);
  // Whether everything else (the gRPC server) is up too.
  void set_ready(bool ready) { ready_ = ready; }

  // What the server calls; tests may too.
  http::Answer handle(const http::Request& request);

 private:
  struct Route {
    std::string_view method;
    std::string_view path;
    bool prefix;  // anything may follow
    bool open;    // also for clients without the certificate that is asked for
    std::function<http::Answer(const http::Request&, std::string_view rest)> answer;
  };
  void add(std::string_view method, std::string_view path,
           std::function<http::Answer(const http::Request&, std::string_view)> answer,
           bool prefix = false, bool open = false);
  void add_routes();
  void add_volcano_routes();
  void add_standalone_routes();
  http::Answer route(const http::Request& request, std::string_view& route);
  bool may_ask(const http::Request& request) const;
  std::string scrape();
  // What is known of a request when its answer comes.
  struct Asked {
    std::string_view route;  // one of routes_, or "other"
    std::string method;      // the request is gone by then
    Clock::Steady begin;
  };
  void finish(http::Response& response, const Asked& asked);
  http::Later finished(http::Later later, const Asked& asked);

  Scheduler& scheduler_;
  Metrics& metrics_;
  const Kubernetes* kubernetes_;
  std::string version_;
  Options options_;
  KubeExtenderHandler kube_;
  VolcanoExtenderHandler volcano_;
  AdmissionHandler admission_;
  ApiHandler api_;
  std::optional<StandaloneHandler> standalone_;
  std::vector<Route> routes_;
  bool ready_ = false;
  http::Server server_;
};

}  // namespace chipweave::sched
