#include "scheduler-plugin/server/http_front.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/obs/log.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

// Requests that list nodes: those of a scheduler without a node cache carry whole Node objects.
constexpr RouteRules kWithNodes{.max_body = limits::kMaxHttpBodyBytes};
constexpr RouteRules kSmall{.max_body = limits::kMaxHttpSmallBodyBytes};

constexpr RouteRules with(RouteRules rules, http::RefusalShape refusal) {
  rules.refusal = refusal;
  return rules;
}

http::Response text(std::string body, int status = 200) {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  response.content_type = "text/plain; charset=utf-8";
  return response;
}

}  // namespace

HttpFront::HttpFront(http::Loop& loop, http::ServerOptions server, Scheduler& scheduler,
                     Backend backend, Metrics& metrics, const ResourceTable& resources,
                     std::string version, Options options)
    : scheduler_(scheduler),
      metrics_(metrics),
      kubernetes_(backend.kubernetes),
      version_(std::move(version)),
      callers_(std::move(options.callers)),
      decisions_(loop, scheduler.clock()),
      replies_(loop, scheduler.clock()),
      kube_(loop, scheduler, resources, decisions_),
      volcano_(scheduler, resources, options.volcano_weight),
      admission_(scheduler),
      gate_(resources, std::move(options.gate)),
      api_(scheduler, replies_, backend.tables),
      server_(
          loop, with_audit(std::move(server)),
          [this](const http::Request& request) { return handle(request); },
          [this](const http::RequestHead& head) { return check(head); }) {
  add_routes();
  if (backend.standalone == nullptr) return;
  standalone_.emplace(*backend.standalone, scheduler.clock(), resources, backend.tables);
  add_standalone_routes();
}

http::ServerOptions HttpFront::with_audit(http::ServerOptions server) {
  server.on_untrusted = [this](const http::Peer& peer) { refused_in_handshake(peer); };
  return server;
}

void HttpFront::add(std::string_view method, std::string_view path, const RouteRules& rules,
                    std::function<http::Answer(const http::Request&, std::string_view)> answer) {
  routes_.push_back({method, path, rules, std::move(answer)});
}

bool HttpFront::Route::matches(std::string_view asked) const {
  return rules.prefix ? asked.starts_with(path) && asked.size() > path.size() : asked == path;
}

void HttpFront::add_routes() {
  using Request = http::Request;
  add_kube_routes();
  add_volcano_routes();
  add("POST", "/admission/binding", kSmall,
      [this](const Request& r, std::string_view) { return admission_.review(r.body); });
  add("POST", GateHandler::kPath, kSmall,
      [this](const Request& r, std::string_view) { return gate_.review(r.body); });
  add("GET", "/healthz", {}, [](const Request&, std::string_view) { return text("ok\n"); });
  add("GET", "/readyz", {}, [this](const Request&, std::string_view) {
    if (!ready_) return text("not ready: starting or shutting down\n", 503);
    if (!scheduler_.authority().waiting_for().empty())
      return text("not ready: " + scheduler_.authority().waiting_for() + "\n", 503);
    const std::string why = scheduler_.authority().cannot_decide();
    return why.empty() ? text("ok\n") : text(why + "\n", 503);
  });
  // whether this replica could lead and can answer read-only requests
  add("GET", "/readyz/standby", {}, [this](const Request&, std::string_view) {
    if (!ready_) return text("not ready: starting or shutting down\n", 503);
    std::string why = scheduler_.authority().waiting_for();
    if (why.empty() && kubernetes_ != nullptr) why = kubernetes_->not_ready();
    return why.empty() ? text("ok\n") : text("not ready: " + why + "\n", 503);
  });
  add("GET", "/version", {}, [this](const Request&, std::string_view) {
    JsonWriter w;
    w.begin_object().field("name", "chipweave-scheduler").field("version", version_).end_object();
    http::Response response;
    response.body = w.take();
    return response;
  });
  add("GET", "/metrics", {}, [this](const Request&, std::string_view) {
    http::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return replies_.answer(std::move(response), scrape());
  });
  add("GET", "/api/v1/nodes", {},
      [this](const Request& r, std::string_view) { return api_.nodes(r.query); });
  add("GET", "/api/v1/nodes/", {.prefix = true},
      [this](const Request& r, std::string_view rest) { return api_.node(rest, r.query); });
  add("GET", "/api/v1/pods", {},
      [this](const Request& r, std::string_view) { return api_.pods(r.query); });
  add("GET", "/api/v1/gangs", {},
      [this](const Request& r, std::string_view) { return api_.gangs(r.query); });
  add("GET", "/api/v1/gangs/", {.prefix = true},
      [this](const Request&, std::string_view rest) { return api_.gang(rest); });
  add("GET", "/api/v1/ranktables", {},
      [this](const Request& r, std::string_view) { return api_.rank_tables(r.query); });
  add("GET", "/api/v1/ranktables/", {.prefix = true},
      [this](const Request&, std::string_view rest) { return api_.rank_table(rest); });
  add("GET", "/api/v1/network", {},
      [this](const Request&, std::string_view) { return api_.network(); });
  add("GET", "/api/v1/explain/", {.prefix = true},
      [this](const Request&, std::string_view rest) { return api_.explain(rest); });
}

void HttpFront::add_kube_routes() {
  using Request = http::Request;
  using Handler = KubeExtenderHandler;
  add("POST", "/kube/filter", with(kWithNodes, Handler::refused_filter),
      [this](const Request& r, std::string_view) { return kube_.filter(r.body, caller_of(r)); });
  add("POST", "/kube/prioritize", with(kWithNodes, Handler::refused_prioritize),
      [this](const Request& r, std::string_view) {
        return kube_.prioritize(r.body, caller_of(r));
      });
  add("POST", "/kube/bind", with(kSmall, Handler::refused_bind),
      [this](const Request& r, std::string_view) { return kube_.bind(r.body, caller_of(r)); });
  add("POST", "/kube/preempt", with(kWithNodes, Handler::refused_preempt),
      [this](const Request& r, std::string_view) { return kube_.preempt(r.body); });
}

void HttpFront::add_volcano_routes() {
  using Request = http::Request;
  add("POST", "/volcano/predicate", kWithNodes,
      [this](const Request& r, std::string_view) { return volcano_.predicate(r.body); });
  add("POST", "/volcano/prioritize", kWithNodes,
      [this](const Request& r, std::string_view) { return volcano_.prioritize(r.body); });
  add("POST", "/volcano/allocate", kSmall,
      [this](const Request& r, std::string_view) { return volcano_.allocate(r.body); });
  add("POST", "/volcano/deallocate", kSmall,
      [this](const Request& r, std::string_view) { return volcano_.deallocate(r.body); });
  for (const std::string_view path : {"/volcano/preemptable", "/volcano/reclaimable"}) {
    add("POST", path, kWithNodes,
        [this](const Request& r, std::string_view) { return volcano_.choose_victims(r.body); });
  }
  for (const std::string_view path : {"/volcano/onSessionOpen", "/volcano/onSessionClose"}) {
    add("POST", path, kWithNodes,
        [](const Request&, std::string_view) { return VolcanoExtenderHandler::session_hook(); });
  }
  struct NoOpinion {
    std::string_view path;
    std::string_view reply;
  };
  for (const NoOpinion& verb : {NoOpinion{"/volcano/jobReady", R"({"status":true})"},
                                NoOpinion{"/volcano/jobEnqueueable", R"({"status":0})"},
                                NoOpinion{"/volcano/jobEnqueued", "{}"},
                                NoOpinion{"/volcano/queueOverused", R"({"overused":false})"}}) {
    add("POST", verb.path, kWithNodes, [reply = verb.reply](const Request&, std::string_view) {
      return VolcanoExtenderHandler::no_opinion(reply);
    });
  }
}

void HttpFront::add_standalone_routes() {
  using Request = http::Request;
  add("POST", "/standalone/pods", kSmall,
      [this](const Request& r, std::string_view) { return standalone_->create(r.body); });
  add("GET", "/standalone/pods", {},
      [this](const Request&, std::string_view) { return standalone_->list(); });
  add("GET", "/standalone/pods/", {.prefix = true},
      [this](const Request&, std::string_view rest) { return standalone_->get(rest); });
  add("PUT", "/standalone/pods/", {.max_body = kSmall.max_body, .prefix = true},
      [this](const Request& r, std::string_view rest) {
        return standalone_->set_status(rest, r.body);
      });
  add("DELETE", "/standalone/pods/", {.prefix = true},
      [this](const Request&, std::string_view rest) { return standalone_->remove(rest); });
}

// The log and the metrics get the route, never the path.
http::Response HttpFront::refuse(CallerRefusal why, const http::RequestHead& head,
                                 std::string_view path) {
  const auto at =
      std::find_if(routes_.begin(), routes_.end(), [&](const Route& r) { return r.matches(path); });
  const std::string_view route = at == routes_.end() ? "other" : at->path;
  const auto now = scheduler_.clock().now();
  metrics_.refused_caller(why);
  audit_.refused({why, route, callers_.known_name(head, CallerPath(head.path)), head.peer}, now);
  http::Response refused = error_response(401, "unauthenticated", explain(why));
  finish(refused, {route, std::string(head.method), now});
  return refused;
}

// Callers without credentials do not learn which paths exist either.
http::HeadVerdict HttpFront::check(const http::RequestHead& head) {
  const CallerPath to(head.path);
  if (const auto why = callers_.refuse(head, to)) return refuse(*why, head, to.path);
  if (CallerCheck::is_open(head, to)) return std::size_t{0};
  for (const Route& r : routes_) {
    if (r.method == head.method && r.matches(to.path))
      return http::AcceptedHead(r.rules.max_body, r.rules.refusal);
  }
  return limits::kMaxHttpUnusedBodyBytes;
}

void HttpFront::refused_in_handshake(const http::Peer& peer) {
  metrics_.refused_caller(CallerRefusal::untrusted_certificate);
  audit_.refused({CallerRefusal::untrusted_certificate, "other", {}, &peer},
                 scheduler_.clock().now());
}

http::Answer HttpFront::route(const http::Request& request, std::string_view& name) {
  const CallerPath to(request.path);
  std::string allowed;
  for (const Route& r : routes_) {
    if (!r.matches(to.path)) continue;
    name = r.path;
    if (r.method == request.method) return r.answer(request, to.path.substr(r.path.size()));
    allowed += (allowed.empty() ? "" : ", ") + std::string(r.method);
  }
  if (!allowed.empty()) {
    http::Response refused =
        error_response(405, "method_not_allowed", "allowed methods for this path: " + allowed);
    refused.allow = std::move(allowed);
    return refused;
  }
  return error_response(404, "not_found", "no such path; see docs/reference/http.md");
}

http::Answer HttpFront::handle(const http::Request& request) {
  const auto begin = scheduler_.clock().now();
  const CallerPath to(request.path);
  // again: the secret may have been removed while the body arrived
  if (const auto why = callers_.refuse(request, to)) return refuse(*why, request, to.path);
  std::string_view name = "other";
  http::Answer answer;
  try {
    answer = route(request, name);
  } catch (const std::exception& e) {
    if (request.method != "GET") throw;  // the state may be half changed: Loop::on_escape() decides
    obs::log(obs::Level::error, "request failed", {{"path", name}, {"error", e.what()}});
    answer = error_response(500, "internal", "internal error; see the scheduler's log");
  }
  if (auto* later = std::get_if<http::Later>(&answer))
    return finished(std::move(*later), {name, std::string(request.method), begin});
  auto& response = std::get<http::Response>(answer);
  finish(response, {name, std::string(request.method), begin});
  return answer;
}

// A Service balances connections, not requests: a client with a kept connection to a former leader
// would use it forever. Every replica gates pods.
void HttpFront::finish(http::Response& response, const RequestInfo& info) {
  metrics_.request(info.route, response.status, scheduler_.clock().now() - info.begin);
  response.close = info.method == "POST" && info.route != GateHandler::kPath &&
                   !scheduler_.authority().cannot_decide().empty();
}

SlicedReplies::Parts HttpFront::scrape() {
  std::optional<Kubernetes::Stats> stats;
  if (kubernetes_ != nullptr) stats = kubernetes_->stats();
  return metrics_.scrape_in_parts(scheduler_, server_.stats(), stats);
}

// As finish(), for a reply that comes later.
http::Later HttpFront::finished(http::Later later, const RequestInfo& info) {
  class Finished final : public http::PendingReply {
   public:
    Finished(HttpFront& front, const RequestInfo& info, std::shared_ptr<http::PendingReply> to)
        : front_(front), info_(info), to_(std::move(to)) {}
    void send(http::Response response) override {
      front_.finish(response, info_);
      to_->send(std::move(response));
    }

   private:
    HttpFront& front_;
    RequestInfo info_;
    std::shared_ptr<http::PendingReply> to_;
  };
  return [this, later = std::move(later), info](std::shared_ptr<http::PendingReply> to) {
    later(std::make_shared<Finished>(*this, info, std::move(to)));
  };
}

Result<std::uint16_t> HttpFront::start() {
  auto port = server_.start();
  if (port && !server_.is_on_loopback()) callers_.close();
  return port;
}

void HttpFront::drain(std::chrono::milliseconds grace, std::function<void()> done) {
  ready_ = false;
  server_.drain(grace, std::move(done));
}

}  // namespace chipweave::sched
