#include "scheduler-plugin/server/http_front.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/obs/log.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

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
      kube_(scheduler, resources),
      volcano_(scheduler, resources, options.volcano_weight),
      admission_(scheduler),
      api_(scheduler),
      server_(loop, std::move(server),
              [this](const http::Request& request) { return handle(request); }) {
  add_routes();
  if (backend.standalone == nullptr) return;
  standalone_.emplace(*backend.standalone, resources);
  add_standalone_routes();
}

void HttpFront::add(std::string_view method, std::string_view path,
                    std::function<http::Answer(const http::Request&, std::string_view)> answer,
                    bool prefix) {
  routes_.push_back({method, path, prefix, std::move(answer)});
}

void HttpFront::add_routes() {
  using Request = http::Request;
  add("POST", "/kube/filter",
      [this](const Request& r, std::string_view) { return kube_.filter(r.body); });
  add("POST", "/kube/prioritize",
      [this](const Request& r, std::string_view) { return kube_.prioritize(r.body); });
  add("POST", "/kube/bind",
      [this](const Request& r, std::string_view) { return kube_.bind(r.body); });
  add("POST", "/kube/preempt",
      [this](const Request& r, std::string_view) { return kube_.preempt(r.body); });
  add_volcano_routes();
  add("POST", "/admission/binding",
      [this](const Request& r, std::string_view) { return admission_.review(r.body); });
  add("GET", "/healthz", [](const Request&, std::string_view) { return text("ok\n"); });
  add("GET", "/readyz", [this](const Request&, std::string_view) {
    if (!ready_) return text("not ready: starting or shutting down\n", 503);
    if (!scheduler_.authority().waiting_for().empty())
      return text("not ready: " + scheduler_.authority().waiting_for() + "\n", 503);
    const std::string why = scheduler_.authority().cannot_decide();
    return why.empty() ? text("ok\n") : text(why + "\n", 503);
  });
  // whether this replica could lead and can answer read-only requests
  add("GET", "/readyz/standby", [this](const Request&, std::string_view) {
    if (!ready_) return text("not ready: starting or shutting down\n", 503);
    std::string why = scheduler_.authority().waiting_for();
    if (why.empty() && kubernetes_ != nullptr) why = kubernetes_->not_ready();
    return why.empty() ? text("ok\n") : text("not ready: " + why + "\n", 503);
  });
  add("GET", "/version", [this](const Request&, std::string_view) {
    JsonWriter w;
    w.begin_object().field("name", "chipweave-scheduler").field("version", version_).end_object();
    http::Response response;
    response.body = w.take();
    return response;
  });
  add("GET", "/metrics", [this](const Request&, std::string_view) {
    http::Response response = text(scrape());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  });
  add("GET", "/api/v1/nodes", [this](const Request&, std::string_view) { return api_.nodes(); });
  add(
      "GET", "/api/v1/nodes/",
      [this](const Request&, std::string_view rest) { return api_.node(rest); }, true);
  add("GET", "/api/v1/pods", [this](const Request&, std::string_view) { return api_.pods(); });
  add(
      "GET", "/api/v1/explain/",
      [this](const Request&, std::string_view rest) { return api_.explain(rest); }, true);
}

void HttpFront::add_volcano_routes() {
  using Request = http::Request;
  add("POST", "/volcano/predicate",
      [this](const Request& r, std::string_view) { return volcano_.predicate(r.body); });
  add("POST", "/volcano/prioritize",
      [this](const Request& r, std::string_view) { return volcano_.prioritize(r.body); });
  add("POST", "/volcano/allocate",
      [this](const Request& r, std::string_view) { return volcano_.allocate(r.body); });
  add("POST", "/volcano/deallocate",
      [this](const Request& r, std::string_view) { return volcano_.deallocate(r.body); });
  for (const std::string_view path : {"/volcano/preemptable", "/volcano/reclaimable"}) {
    add("POST", path,
        [this](const Request& r, std::string_view) { return volcano_.choose_victims(r.body); });
  }
  for (const std::string_view path : {"/volcano/onSessionOpen", "/volcano/onSessionClose"}) {
    add("POST", path,
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
    add("POST", verb.path, [reply = verb.reply](const Request&, std::string_view) {
      return VolcanoExtenderHandler::no_opinion(reply);
    });
  }
}

void HttpFront::add_standalone_routes() {
  using Request = http::Request;
  add("POST", "/standalone/pods",
      [this](const Request& r, std::string_view) { return standalone_->create(r.body); });
  add("GET", "/standalone/pods",
      [this](const Request&, std::string_view) { return standalone_->list(); });
  add(
      "GET", "/standalone/pods/",
      [this](const Request&, std::string_view rest) { return standalone_->get(rest); }, true);
  add(
      "DELETE", "/standalone/pods/",
      [this](const Request&, std::string_view rest) { return standalone_->remove(rest); }, true);
}

bool HttpFront::is_at(const Route& route, std::string_view path) {
  return route.prefix ? path.starts_with(route.path) && path.size() > route.path.size()
                      : path == route.path;
}

// Callers without a proof do not learn which paths exist either. The log and the metrics get the
// route, never the path.
std::optional<http::Response> HttpFront::refuse(const http::Request& request,
                                                const CallerPath& to) {
  const auto why = callers_.refuse(request, to);
  if (!why) return std::nullopt;
  metrics_.refused_caller(*why);
  const auto route = std::find_if(routes_.begin(), routes_.end(),
                                  [&](const Route& r) { return is_at(r, to.path); });
  audit_.refused(*why, route == routes_.end() ? "other" : route->path, request.peer,
                 scheduler_.clock().now());
  return error_response(401, "unauthenticated", explain(*why));
}

http::Answer HttpFront::route(const http::Request& request, std::string_view& name) {
  const CallerPath to(request.path);
  if (auto refused = refuse(request, to)) return std::move(*refused);
  std::string allowed;
  for (const Route& r : routes_) {
    if (!is_at(r, to.path)) continue;
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
  std::string_view name = "other";
  http::Answer answer;
  try {
    answer = route(request, name);
  } catch (const std::exception& e) {
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
// would use it forever.
void HttpFront::finish(http::Response& response, const RequestInfo& info) {
  metrics_.request(info.route, response.status, scheduler_.clock().now() - info.begin);
  response.close = info.method == "POST" && !scheduler_.authority().cannot_decide().empty();
}

std::string HttpFront::scrape() {
  if (kubernetes_ == nullptr) return metrics_.scrape(scheduler_, server_.stats());
  const Kubernetes::Stats stats = kubernetes_->stats();
  return metrics_.scrape(scheduler_, server_.stats(), &stats);
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

Result<std::uint16_t> HttpFront::start() { return server_.start(); }

void HttpFront::drain(std::chrono::milliseconds grace, std::function<void()> done) {
  ready_ = false;
  server_.drain(grace, std::move(done));
}

}  // namespace chipweave::sched
