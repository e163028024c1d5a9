#include "node-agent/dra/dra_driver.hpp"

#include <optional>
#include <utility>

#include "common/obs/log.hpp"
#include "node-agent/dra/claims/claim_service.hpp"
#include "node-agent/dra/claims/driver_files.hpp"
#include "node-agent/dra/offered_devices.hpp"
#include "node-agent/dra/server/plugin_server.hpp"
#include "node-agent/dra/slices/slice_publisher.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent::dra {
namespace {

// The kubelet takes a health as unknown after 30 s, and deletes the slices of a driver that it has
// not seen for as long.
constexpr std::chrono::milliseconds kLookEvery{10'000};
constexpr std::chrono::milliseconds kRetryAfter{2'000};

ClaimStore::Options store_options(const DraOptions& options) {
  return {options.driver, options.node,
          options.state_folder + "/" + options.driver + "/prepared-claims.json",
          options.cdi_folder};
}

ClaimService::Options service_options(const DraOptions& options) {
  ClaimService::Options out;
  out.driver = options.driver;
  out.node = options.node;
  out.nodes = options.nodes;
  out.toolkit_kind = options.toolkit_kind;
  return out;
}

SlicePublisher::Options publisher_options(const DraOptions& options) {
  SlicePublisher::Options out;
  out.pool = {options.driver, options.node, options.managed, options.evict};
  out.seed = options.seed;
  return out;
}

std::vector<DeviceHealthEntry> health_of(const NodeState& state) {
  std::vector<DeviceHealthEntry> out;
  for (const OfferedDevice& device : offered_devices(state))
    out.push_back({device.name, device.problem.empty(), device.problem});
  return out;
}

}  // namespace

struct DraDriver::Impl {
  Impl(http::Loop& loop, kube::Transport& t, DraOptions o,
       std::function<void(const std::string&)> c)
      : transport(t),
        options(std::move(o)),
        contested(std::move(c)),
        host(options.host_root),
        store(files, store_options(options)),
        service(transport, store, host, service_options(options)),
        publisher(transport, host, publisher_options(options),
                  {[this](const std::string& why) {
                     service.set_conflict(why);
                     if (contested) contested(why);
                   },
                   {}}),
        server(loop, {options.driver, options.node, options.kubelet_folder}, events()) {}

  PluginServer::Events events() {
    PluginServer::Events out;
    out.prepare = [this](std::vector<ClaimRef> claims, std::function<void(PreparedAnswer)> done) {
      service.prepare(std::move(claims), std::move(done));
    };
    out.unprepare = [this](const std::vector<ClaimRef>& claims) {
      return service.unprepare(claims);
    };
    out.registered = [this](const std::string& problem) {
      if (problem.empty()) {
        obs::log(obs::Level::info, "registered with the kubelet", {{"driver", options.driver}});
      } else {
        obs::log(obs::Level::error, "the kubelet does not take the DRA driver",
                 {{"driver", options.driver}, {"reason", problem}});
      }
    };
    return out;
  }

  void load() {
    const auto ok = store.load_once();
    const std::string problem = ok ? "" : ok.error().text();
    if (problem != load_problem) {
      problem.empty()
          ? obs::log(obs::Level::info, "prepared claims can be read again")
          : obs::log(obs::Level::error, "no claim can be prepared or ended", {{"reason", problem}});
    }
    load_problem = problem;
  }

  void serve() {
    const bool works = server.in_place();
    if (!works) {
      server.stop();
      if (const auto ok = server.start(); !ok) {
        const std::string why = ok.error().text();
        if (why != serve_problem)
          obs::log(obs::Level::warn, "cannot serve the kubelet", {{"reason", why}});
        serve_problem = why;
        timer = transport.after(kRetryAfter, [this] { serve(); });
        return;
      }
      serve_problem.clear();
      obs::log(obs::Level::info, "serving the kubelet",
               {{"driver", options.driver}, {"socket", server.registration_socket()}});
    }
    load();
    server.refresh();
    timer = transport.after(kLookEvery, [this] { serve(); });
  }

  kube::Transport& transport;
  const DraOptions options;
  std::function<void(const std::string&)> contested;
  SystemFiles files;
  SystemDevices host;
  ClaimStore store;
  ClaimService service;
  SlicePublisher publisher;
  PluginServer server;
  std::unique_ptr<kube::Ticket> timer;
  std::string load_problem;   // as logged
  std::string serve_problem;  // as logged
};

DraDriver::DraDriver(http::Loop& loop, kube::Transport& transport, DraOptions options,
                     std::function<void(const std::string& why)> contested)
    : impl_(std::make_unique<Impl>(loop, transport, std::move(options), std::move(contested))) {}

DraDriver::~DraDriver() = default;

void DraDriver::start() { impl_->serve(); }

void DraDriver::want(const NodeStatePtr& state) {
  impl_->service.want(state);
  impl_->server.health(health_of(*state));
  impl_->publisher.want(state);
}

void DraDriver::stop() {
  impl_->timer.reset();
  impl_->publisher.stop();
  impl_->server.stop();
}

}  // namespace chipweave::agent::dra
