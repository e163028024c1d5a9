// KubeWorld — a scheduler in front of a simulated API server, with a manual clock; it can be killed
// and restarted. Shared by the tests of this folder.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/fitting.hpp"
#include "tests/unit/sched_kube/simulated_api.hpp"

namespace chipweave::sched {
class Kubernetes;
}

namespace chipweave::sched::test {

class Recorder final : public Observer {
 public:
  void on(const Observation& seen) override {
    if (const auto* bound = std::get_if<PodBound>(&seen)) bound_pods.push_back(bound->pod.name);
    if (const auto* dispute = std::get_if<PodDisputed>(&seen))
      disputes.push_back(dispute->pod.name);
    if (const auto* failed = std::get_if<BindFailed>(&seen))
      bind_errors.push_back(failed->error.text());
  }
  std::vector<std::string> bound_pods;
  std::vector<std::string> disputes;
  std::vector<std::string> bind_errors;
};

// The id of a chip of a node that add_node() has added.
inline std::string gpu_id(const std::string& node, int chip) {
  return "GPU-" + node + "-" + std::to_string(chip);
}

class KubeWorld {
 public:
  // Shared by all replicas.
  struct Shared {
    ManualClock clock;
    SimulatedApi api;
    std::set<std::string> nodes;
    std::int64_t sequence = 0;
    // Of nodes that are added from now on; with dra, slices come with them.
    domain::Enforcement enforcement = domain::Enforcement::none;
    // Programs that are started from now on allocate claims that waiting pods name.
    bool allocate_claims = false;
    // NAMESPACE and NAME of the ConfigMap with the network, likewise.
    std::pair<std::string, std::string> network_config_map;
    // And store the plans of gangs.
    bool store_gang_plans = false;
    // And write the hostfiles of gangs.
    bool write_hostfiles = false;
  };
  explicit KubeWorld(bool streaming = true);
  // One of several replicas that elect a leader; in the cluster of `other`, or in one of its own.
  explicit KubeWorld(const char* replica, const KubeWorld* other = nullptr);
  ~KubeWorld();
  KubeWorld(const KubeWorld&) = delete;
  KubeWorld& operator=(const KubeWorld&) = delete;

  void start();
  // As SIGKILL would.
  void kill();
  void restart();
  bool leads() const;

  // With an agent's report in the API server.
  void add_node(const std::string& name, const std::string& machine,
                const std::map<int, domain::Health>& health = {},
                const std::vector<domain::Fault>& faults = {});
  // description: as an administrator writes it.
  void add_machine(const std::string& name, const std::string& machine,
                   const std::string& description, const std::map<int, domain::Health>& health = {},
                   const std::vector<domain::Fault>& faults = {});
  void create(const std::string& name, int chips, const std::string& resource = "nvidia.com/gpu",
              const std::map<std::string, std::string>& labels = {}, int priority = 0);
  const ServerPod& pod(const std::string& name) const { return api.pods.at("ns/" + name); }

  // The pod as kube-scheduler sends it.
  PodRequest request(const ServerPod& pod) const;
  std::vector<std::string_view> all_nodes() const { return {nodes.begin(), nodes.end()}; }

  std::vector<std::string> fit(const std::string& name);
  // "bound", or the error; empty as long as there is no answer.
  std::shared_ptr<std::string> bind(const std::string& name, const std::string& node);
  std::shared_ptr<std::string> bind_as(const std::string& ns, const std::string& name,
                                       const std::string& uid, const std::string& node,
                                       const std::string& caller = {});

  // The chips in the pod's placement annotation; none if that is not valid.
  static std::vector<int> annotated(const ServerPod& pod);
  std::vector<int> annotated(const std::string& name) const { return annotated(pod(name)); }
  // The chips that the ledger has for the pod.
  std::vector<int> held(const std::string& name) const;
  const Holding* holding(const std::string& name) const;

  void pass(std::chrono::milliseconds time);
  // The program's periodic work.
  void tick();
  // All watches receive all changes.
  void feed_all();
  // Answers everything and lets every reservation expire.
  void come_to_rest();

  // No chip of a node is in the annotations of two bound pods.
  void expect_no_chip_twice() const;
  // Every pod bound to a node with dra, unless it is one of `others`, has a claim with exactly the
  // chips of its annotations.
  void expect_claims_are_the_annotations(const std::set<std::string>& others = {}) const;
  // At rest the ledger agrees with the API server.
  void expect_ledger_is_the_truth() const;

  SchedulerOptions options{std::chrono::seconds(30), std::chrono::hours(1000), false};
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  ManualClock& clock = shared->clock;
  SimulatedApi& api = shared->api;
  std::set<std::string>& nodes = shared->nodes;
  std::string replica_name;  // empty: the only replica
  std::shared_ptr<SimulatedProcess> process = std::make_shared<SimulatedProcess>();
  ResourceTable resources;
  Recorder recorder;
  std::unique_ptr<Observers> observers;
  std::unique_ptr<Kubernetes> kubernetes;
  std::unique_ptr<Scheduler> scheduler;
};

}  // namespace chipweave::sched::test
