#include "node-agent/device_plugin/program.hpp"

#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/objects/kubelet_config.hpp"
#include "common/http/loop.hpp"
#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/kube/api_client.hpp"
#include "common/obs/log.hpp"
#include "common/tls/certificate_files.hpp"
#include "node-agent/device_plugin/cluster.hpp"
#include "node-agent/device_plugin/metrics.hpp"
#include "node-agent/device_plugin/plugin_set.hpp"
#include "node-agent/sources/gate_file.hpp"

namespace chipweave::device_plugin {
namespace {

// While the gate is closed and the plugin still answers: until the scheduler has noticed.
constexpr std::chrono::milliseconds kGoodbye{1'000};
constexpr int kHeld = 1;
constexpr int kUnusable = 3;

int fail(int code, const Error& error) {
  obs::log(obs::Level::error, "cannot start", {{"error", error.text()}});
  return code;
}

Result<std::unique_ptr<kube::ApiClient>> open_api(const Flags& flags, http::Loop& loop) {
  auto access = kube::load_access({flags.kubeconfig, ""}, kube::process_environment());
  if (!access) return std::move(access).error();
  return kube::ApiClient::make(loop, std::move(access).value(),
                               std::string("chipweave-device-plugin/") + CHIPWEAVE_VERSION);
}

// With another policy the kubelet chooses among the devices of its NUMA nodes before it asks.
Result<void> check_kubelet(const std::string& path) {
  if (path.empty()) return {};
  const auto text = io::read_file(path, limits::kMaxConfigBytes);
  if (!text) return Error(text.error());
  auto policy = codec::read_topology_policy(*text);
  if (!policy) return std::move(policy).error().in("file " + path);
  if (*policy == "none") return {};
  return make_error(Errc::conflict,
                    "the kubelet has topologyManagerPolicy " + in_quotes(*policy) +
                        ", with which it is not tested that containers get the chosen chips: set "
                        "it to none in " +
                        path);
}

Result<void> open_metrics(const Flags& flags, Metrics& metrics, tls::CertificateFiles* files) {
  if (!flags.metrics) return {};
  if (files == nullptr && !flags.metrics->is_loopback()) {
    obs::log(obs::Level::warn,
             "anyone can read this port: set --metrics-tls-cert and --metrics-tls-key, or listen "
             "on 127.0.0.1",
             {{"metrics", flags.metrics->text()}});
  }
  const auto port = metrics.start(flags.metrics->host, flags.metrics->port,
                                  files == nullptr ? nullptr : files->context());
  if (!port) return Error(port.error());
  obs::log(obs::Level::info, "serving metrics", {{"port", static_cast<int>(*port)}});
  if (flags.port_file.empty()) return {};
  JsonWriter ports;
  ports.begin_object().field("metrics", *port).end_object();
  return io::write_file_atomically(flags.port_file, ports.take() + "\n");
}

}  // namespace

int run_device_plugin(const Flags& flags) {
  obs::set_level(flags.log_level);
  http::Loop loop;
  std::optional<agent::GateFile> gate;
  if (!flags.gate_file.empty()) {
    auto opened = agent::GateFile::open(flags.gate_file);
    if (!opened)
      return fail(opened.error().code == Errc::conflict ? kHeld : kUnusable, opened.error());
    gate = std::move(*opened);
  }
  if (const auto ok = check_kubelet(flags.kubelet_config); !ok) return fail(kUnusable, ok.error());
  const SystemClock clock;
  std::unique_ptr<tls::CertificateFiles> certificate;
  if (!flags.metrics_tls_cert.empty()) {
    auto opened =
        tls::CertificateFiles::open(clock, {flags.metrics_tls_cert, flags.metrics_tls_key, {}});
    if (!opened) return fail(kUnusable, opened.error());
    certificate = std::move(*opened);
    loop.every(tls::kLookEvery, [&certificate] { certificate->check(); });
  }
  std::vector<std::string> resources{flags.plugin.resource};
  if (flags.ack_label) resources.emplace_back(kAckResource);
  Metrics metrics(loop, resources, !flags.plugin.vendor_folder.empty());
  std::optional<domain::NodeTopology> machine;
  if (!flags.machine.empty()) {
    auto loaded = io::load_machine(flags.machine);
    if (!loaded) return fail(kUnusable, loaded.error());
    machine = std::move(loaded->topology);
  }
  std::unique_ptr<kube::ApiClient> api;
  if (flags.cluster()) {
    auto made = open_api(flags, loop);
    if (!made) return fail(kUnusable, made.error());
    api = std::move(*made);
  }

  std::unique_ptr<Cluster> cluster;
  PluginEvents events;
  events.answered = [&metrics](const std::string& resource, std::string_view call,
                               std::string_view outcome, std::chrono::nanoseconds took) {
    metrics.answered(resource, call, outcome, took);
  };
  events.standing = [&metrics](const std::string& resource, const PluginStanding& standing) {
    metrics.standing(resource, standing);
  };
  events.gate = [&gate, &metrics](bool open) {
    metrics.gate(open);
    if (!gate) return;
    if (const auto ok = gate->write(open); !ok)
      obs::log(obs::Level::error, "cannot say whether the node is open for pods",
               {{"error", ok.error().text()}});
  };
  if (api) {
    events.correct = [&cluster](const PodRecord& pod, const std::string& placement,
                                std::function<void(Result<void>)> done) {
      cluster->correct(pod, placement, std::move(done));
    };
    events.wants_list = [&cluster] { cluster->list_soon(); };
  }
  PluginSet plugin(loop, flags.plugin, flags.ack_label, std::move(events));
  if (api) {
    ClusterEvents seen;
    seen.pod_seen = [&plugin](const codec::KubePod& pod) { plugin.pod_seen(pod); };
    seen.pod_gone = [&plugin](const std::string& key) { plugin.pod_gone(key); };
    seen.list_requested = [&plugin] { plugin.list_requested(); };
    seen.pods_listed = [&plugin] { plugin.pods_listed(); };
    seen.pods_stale = [&plugin] { plugin.pods_stale(); };
    seen.machine = [&](const std::optional<domain::NodeTopology>& topology) {
      topology ? plugin.machine(*topology) : plugin.machine_unknown();
    };
    if (flags.ack_label) {
      seen.node_label = [&plugin](const std::optional<std::string>& value) {
        plugin.node_label(value);
      };
    }
    cluster = std::make_unique<Cluster>(*api, flags.plugin.node, !machine, std::random_device{}(),
                                        std::move(seen));
    cluster->start();
  }
  if (machine) plugin.machine(*machine);
  loop.on_terminate([&] {
    obs::log(obs::Level::info, "stopping");
    plugin.close_gate();
    loop.after(kGoodbye, [&loop] { loop.stop(); });
  });
  if (const auto ok = open_metrics(flags, metrics, certificate.get()); !ok)
    return fail(kHeld, ok.error());
  if (const auto ok = plugin.start(); !ok) return fail(kUnusable, ok.error());
  obs::log(obs::Level::info, "device plugin started",
           {{"node", flags.plugin.node}, {"resources", joined(resources, ",")}});
  loop.run();
  return 0;
}

}  // namespace chipweave::device_plugin
