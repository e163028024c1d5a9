// HttpFront — the scheduler's HTTP server: routes requests to the handlers.
//
// Owner: the loop thread. Requests are handled one at a time as they arrive; the only queue is the
// kernel's and the server's bounded set of connections, so that overload is refused at accept and
// does not pile up here.
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
#include "scheduler-plugin/server/caller_audit.hpp"
#include "scheduler-plugin/server/caller_check.hpp"
#include "scheduler-plugin/server/gate_handler.hpp"
#include "scheduler-plugin/server/kube_extender_handler.hpp"
#include "scheduler-plugin/server/metrics.hpp"
#include "scheduler-plugin/server/sliced_replies.hpp"
#include "scheduler-plugin/server/standalone_handler.hpp"
#include "scheduler-plugin/server/volcano_extender_handler.hpp"

namespace chipweave::sched {

// Which requests a path takes.
struct RouteRules {
  std::size_t max_body = limits::kMaxHttpUnusedBodyBytes;
  bool prefix = false;  // anything may follow the path
  http::RefusalShape refusal = nullptr;
};

class HttpFront {
 public:
  // Exactly one is set. standalone: receives posted pods.
  struct Backend {
    MemoryCluster* standalone = nullptr;
    const Kubernetes* kubernetes = nullptr;
    RankTables* tables = nullptr;  // null: none are made
  };
  struct Options {
    int volcano_weight = 20;  // see VolcanoExtenderHandler
    CallerRules callers;
    GateOptions gate;
  };
  // backend and resources must outlive the front.
  HttpFront(http::Loop& loop, http::ServerOptions server, Scheduler& scheduler, Backend backend,
            Metrics& metrics, const ResourceTable& resources, std::string version, Options options);

  Result<std::uint16_t> start();
  // Makes /readyz fail, then drains the server.
  void drain(std::chrono::milliseconds grace, std::function<void()> done);
  // Whether the rest (the gRPC server) is up too.
  void set_ready(bool ready) { ready_ = ready; }

  // Once a second.
  void tick() { audit_.tick(scheduler_.clock().now()); }

  // Called by the server and by tests. The check refuses callers that may not use the path before
  // their body is read; requests that it refuses do not reach handle().
  http::HeadVerdict check(const http::RequestHead& head);
  http::Answer handle(const http::Request& request);

 private:
  struct Route {
    std::string_view method;
    std::string_view path;
    RouteRules rules;
    std::function<http::Answer(const http::Request&, std::string_view rest)> answer;
    bool matches(std::string_view asked) const;
  };
  http::ServerOptions with_audit(http::ServerOptions server);
  // A client whose certificate failed the handshake.
  void refused_in_handshake(const http::Peer& peer);
  void add(std::string_view method, std::string_view path, const RouteRules& rules,
           std::function<http::Answer(const http::Request&, std::string_view)> answer);
  void add_routes();
  void add_kube_routes();
  void add_volcano_routes();
  void add_standalone_routes();
  http::Answer route(const http::Request& request, std::string_view& route);
  http::Response refuse(CallerRefusal why, const http::RequestHead& head, std::string_view path);
  std::string caller_of(const http::Request& request) const {
    return callers_.name_of(request, CallerPath(request.path));
  }
  SlicedReplies::Parts scrape();
  // The data of a request that is kept until its answer.
  struct RequestInfo {
    std::string_view route;  // one of routes_, or "other"
    std::string method;      // the request is gone by then
    Clock::Steady begin;
  };
  void finish(http::Response& response, const RequestInfo& info);
  http::Later finished(http::Later later, const RequestInfo& info);

  Scheduler& scheduler_;
  Metrics& metrics_;
  const Kubernetes* kubernetes_;
  std::string version_;
  CallerCheck callers_;
  CallerAudit audit_;
  SlicedReplies decisions_;  // separate, so that schedulers never wait for a reader's list
  SlicedReplies replies_;
  KubeExtenderHandler kube_;
  VolcanoExtenderHandler volcano_;
  AdmissionHandler admission_;
  GateHandler gate_;
  ApiHandler api_;
  std::optional<StandaloneHandler> standalone_;
  std::vector<Route> routes_;
  bool ready_ = false;
  http::Server server_;
};

}  // namespace chipweave::sched
