#include "node-agent/device_plugin/metrics.hpp"

#include <map>
#include <utility>

#include "common/http/server.hpp"
#include "common/obs/metrics.hpp"

namespace chipweave::device_plugin {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";

// Every outcome of each call, so that each has a series from the start.
constexpr std::pair<const char*, const char*> kOutcomes[] = {
    {"preferred", "decision"}, {"preferred", "selector"}, {"preferred", "adopted"},
    {"preferred", "refused"},  {"allocate", "given"},     {"allocate", "failed"},
    {"start", "started"},      {"start", "adopted"},      {"start", "refused"},
    {"start", "failed"}};

}  // namespace

struct Metrics::Impl {
  Impl(http::Loop& l, const std::vector<std::string>& resources, bool v)
      : loop(l),
        vendor(v),
        answers(registry.counter("chipweave_device_plugin_answers_total",
                                 "Answers to the kubelet by resource, call and outcome.")),
        durations(registry.histogram("chipweave_device_plugin_answer_duration_seconds",
                                     "Time from a call of the kubelet to its answer.",
                                     {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1, 3, 10})),
        open(
            registry
                .gauge("chipweave_device_plugin_gate_open",
                       "1 while pods may be bound to this node, as far as the plugin is concerned.")
                .with()),
        registrations(registry.counter("chipweave_device_plugin_registrations_total",
                                       "Registrations sent to the kubelet, by resource.")),
        devices(registry.gauge(
            "chipweave_device_plugin_devices",
            "Devices that the plugin offers to the kubelet, by resource and health.")),
        stale(registry
                  .gauge("chipweave_device_plugin_pods_stale",
                         "1 while the pods of this node cannot be watched.")
                  .with()) {
    for (const std::string& resource : resources) {
      for (const auto& [call, outcome] : kOutcomes)
        answers.with({{"resource", resource}, {"call", call}, {"outcome", outcome}}).add(0);
      show(resource, {});
    }
    open.set(0);
  }

  void show(const std::string& resource, const PluginStanding& now) {
    PluginStanding& before = shown[resource];
    registrations.with({{"resource", resource}}).add(now.registrations - before.registrations);
    devices.with({{"resource", resource}, {"health", "healthy"}}).set(now.healthy);
    devices.with({{"resource", resource}, {"health", "unhealthy"}}).set(now.unhealthy);
    stale.set(now.pods_stale ? 1 : 0);
    if (vendor) {
      registry
          .gauge("chipweave_device_plugin_vendor_connected",
                 "1 while the vendor's plugin behind this one is connected.")
          .with()
          .set(now.vendor_here ? 1 : 0);
    }
    before = now;
  }

  http::Response answer(const http::Request& request) const {
    if (request.method != "GET" && request.method != "HEAD")
      return {405, "only GET and HEAD are supported\n", kPlainText, "GET, HEAD"};
    if (request.path == "/healthz") return {200, "ok\n", kPlainText, {}};
    if (request.path != "/metrics")
      return {404, "not found; known: /metrics, /healthz\n", kPlainText, {}};
    return {200, registry.expose(), "text/plain; version=0.0.4; charset=utf-8", {}};
  }

  http::Loop& loop;
  bool vendor;
  obs::Registry registry;
  obs::Family<obs::Counter>& answers;
  obs::Family<obs::Histogram>& durations;
  obs::Gauge open;
  obs::Family<obs::Counter>& registrations;
  obs::Family<obs::Gauge>& devices;
  obs::Gauge stale;
  std::map<std::string, PluginStanding> shown;  // by resource
  std::unique_ptr<http::Server> server;
};

Metrics::Metrics(http::Loop& loop, const std::vector<std::string>& resources, bool vendor)
    : impl_(std::make_unique<Impl>(loop, resources, vendor)) {}

Metrics::~Metrics() = default;

Result<std::uint16_t> Metrics::start(const std::string& host, std::uint16_t port,
                                     std::shared_ptr<http::TlsContext> tls) {
  http::ServerOptions options;
  options.tls = std::move(tls);
  options.host = host;
  options.port = port;
  options.max_connections = 64;
  options.max_body_bytes = 4096;  // requests have no body
  impl_->server = std::make_unique<http::Server>(
      impl_->loop, options,
      [impl = impl_.get()](const http::Request& request) { return impl->answer(request); });
  return impl_->server->start();
}

void Metrics::answered(const std::string& resource, std::string_view call, std::string_view outcome,
                       std::chrono::nanoseconds took) {
  impl_->answers
      .with(
          {{"resource", resource}, {"call", std::string(call)}, {"outcome", std::string(outcome)}})
      .add();
  impl_->durations.with({{"resource", resource}, {"call", std::string(call)}})
      .observe(std::chrono::duration<double>(took).count());
}

void Metrics::standing(const std::string& resource, const PluginStanding& standing) {
  impl_->show(resource, standing);
}

void Metrics::gate(bool open) { impl_->open.set(open ? 1 : 0); }

std::string Metrics::expose() const { return impl_->registry.expose(); }

}  // namespace chipweave::device_plugin
