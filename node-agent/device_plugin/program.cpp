#include "node-agent/device_plugin/program.hpp"

#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include "common/http/loop.hpp"
#include "common/io/files.hpp"
#include "common/kube/access.hpp"
#include "common/kube/api_client.hpp"
#include "common/obs/log.hpp"
#include "node-agent/device_plugin/cluster.hpp"
#include "node-agent/device_plugin/drm_nodes.hpp"
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
  events.gate = [&gate](bool open) {
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
  }
  Plugin plugin(loop, flags.plugin, std::move(events));
  const auto take_machine = [&](const domain::NodeTopology& topology) {
    plugin.machine(topology, flags.plugin.hand_over.drm_nodes
                                 ? drm_nodes(topology, flags.sysfs_root)
                                 : std::vector<std::vector<std::string>>());
  };
  if (api) {
    ClusterEvents seen;
    seen.pod_seen = [&plugin](const codec::KubePod& pod) { plugin.pod_seen(pod); };
    seen.pod_gone = [&plugin](const std::string& key) { plugin.pod_gone(key); };
    seen.pods_listed = [&plugin] { plugin.pods_listed(); };
    seen.machine = [&](const std::optional<domain::NodeTopology>& topology) {
      topology ? take_machine(*topology) : plugin.machine_unknown();
    };
    cluster = std::make_unique<Cluster>(*api, flags.plugin.node, !machine, std::random_device{}(),
                                        std::move(seen));
    cluster->start();
  }
  if (machine) take_machine(*machine);
  loop.on_terminate([&] {
    obs::log(obs::Level::info, "stopping");
    plugin.close_gate();
    loop.after(kGoodbye, [&loop] { loop.stop(); });
  });
  plugin.start();
  obs::log(obs::Level::info, "device plugin started",
           {{"node", flags.plugin.node}, {"resource", flags.plugin.resource}});
  loop.run();
  return 0;
}

}  // namespace chipweave::device_plugin
