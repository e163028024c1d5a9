// KubeWorld — a scheduler that works for a simulated API server, with time that stands still; it
// can be killed and started again. Shared by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/topology/import.hpp"
#include "common/obs/log.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/simulated_api.hpp"

namespace chipweave::sched::testing {

class Recorder final : public NullObserver {
 public:
  void bound(const BoundPod& pod) override { bound_pods.push_back(pod.pod.name); }
  void disputed(const PodKey& pod, std::string_view, const std::vector<int>&) override {
    disputes.push_back(pod.name);
  }
  std::vector<std::string> bound_pods;
  std::vector<std::string> disputes;
};

class KubeWorld {
 public:
  // What all replicas have in common.
  struct Shared {
    ManualClock clock;
    SimulatedApi api;
    std::set<std::string> nodes;
    std::int64_t sequence = 0;
  };
  explicit KubeWorld(bool streaming = true) {
    obs::set_level("error");
    api.streaming_lists = streaming;
    start();
  }
  // A replica, one of several that elect a leader; another one's cluster, or one of its own.
  explicit KubeWorld(const char* replica, const KubeWorld* beside = nullptr)
      : shared(beside == nullptr ? std::make_shared<Shared>() : beside->shared),
        replica_name(replica) {
    obs::set_level("error");
    start();
  }

  void start() {
    KubernetesOptions kube_options;
    kube_options.lease_namespace = "chipweave-system";
    kube_options.jitter = [] { return 0.5; };
    if (!replica_name.empty()) {
      kube_options.election.emplace();
      kube_options.election->lease.ns = "chipweave-system";
      kube_options.election->lease.name = "chipweave-scheduler";
      kube_options.election->lease.identity = replica_name;
      kube_options.election->pod = replica_name;
    }
    kubernetes = std::make_unique<Kubernetes>(api.connect(process), api.connect_at_once(process),
                                              clock, std::move(kube_options), resources);
    observers = std::make_unique<Observers>();
    observers->add(recorder);
    observers->add(kubernetes->events());
    scheduler = std::make_unique<Scheduler>(clock, kubernetes->cluster(), *observers, options);
    kubernetes->start(*scheduler);
  }
  // As SIGKILL would.
  void kill() {
    process->held.clear();
    process->stopped = false;
    scheduler.reset();
    kubernetes.reset();
  }
  bool leads() const { return scheduler->cannot_decide().empty(); }
  void restart() {
    kill();
    start();
  }

  // With an agent's report in the API server.
  void add_node(const std::string& name, const std::string& machine,
                const std::map<int, domain::Health>& health = {}) {
    const auto* p = profiles::find(machine);
    ASSERT_NE(p, nullptr) << machine;
    auto t = codec::import_topology_json(p->json, {});
    ASSERT_TRUE(t.ok());
    nlohmann::json document = nlohmann::json::parse(p->json);
    codec::NodeInventory inventory;
    inventory.node = name;
    inventory.boot_id = "boot";
    inventory.sequence = ++shared->sequence;
    inventory.machine = machine;
    inventory.resources = {"aliyun.com/gpu", "nvidia.com/gpu"};
    inventory.topology = t->topology;
    auto status =
        nlohmann::json::parse(codec::write_inventory_status(inventory, {"u", "1"}))["status"];
    for (auto& chip : status["topology"]["chips"]) {
      const auto it = health.find(chip["index"].get<int>());
      if (it != health.end())
        chip["health"] = it->second == domain::Health::unhealthy ? "unhealthy" : "healthy";
    }
    api.set_inventory(name, status.dump());
    nodes.insert(name);
  }

  void create(const std::string& name, int chips, const std::string& resource = "nvidia.com/gpu",
              const std::map<std::string, std::string>& labels = {}, int priority = 0) {
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.resource = resource;
    pod.chips = chips;
    pod.labels = labels;
    pod.priority = priority;
    api.create(std::move(pod));
  }
  const ServerPod& pod(const std::string& name) const { return api.pods.at("ns/" + name); }

  // What kube-scheduler sends of a pod.
  PodAsk ask(const ServerPod& pod) const {
    codec::KubePod kube;
    kube.ns = pod.ns;
    kube.name = pod.name;
    kube.uid = pod.uid;
    kube.labels.insert(pod.labels.begin(), pod.labels.end());
    codec::KubeContainer container;
    if (pod.chips > 0) container.limits[pod.resource] = std::to_string(pod.chips);
    kube.containers.push_back(container);
    return count_ask(kube, resources).ask;
  }
  std::vector<std::string_view> all_nodes() const { return {nodes.begin(), nodes.end()}; }

  std::vector<std::string> fit(const std::string& name) {
    const auto names = all_nodes();
    const auto answer = scheduler->filter(ask(pod(name)), names);
    std::vector<std::string> out;
    for (const auto node : answer->fit) out.emplace_back(node);
    return out;
  }
  // "bound", or the error; empty as long as there is no answer.
  std::shared_ptr<std::string> bind(const std::string& name, const std::string& node) {
    const ServerPod& p = pod(name);
    return bind_as(p.ns, p.name, p.uid, node);
  }
  std::shared_ptr<std::string> bind_as(const std::string& ns, const std::string& name,
                                       const std::string& uid, const std::string& node) {
    auto said = std::make_shared<std::string>();
    scheduler->bind({{ns, name}, uid, node}, [said](const Result<void>& how) {
      *said = how ? "bound" : how.error().text();
    });
    return said;
  }

  // What its annotation says, if it is a valid one.
  static std::vector<int> annotated(const ServerPod& pod) {
    const auto it = pod.annotations.find(kPlacementAnnotation);
    if (it == pod.annotations.end()) return {};
    const auto json = nlohmann::json::parse(it->second);
    if (json["podUid"] != pod.uid || json["node"] != pod.node) return {};
    std::vector<int> chips;
    for (const auto& chip : json["chips"]) chips.push_back(chip["index"]);
    return chips;
  }
  std::vector<int> annotated(const std::string& name) const { return annotated(pod(name)); }
  // What the ledger has for it.
  std::vector<int> held(const std::string& name) const {
    const Holding* h = scheduler->ledger().find(pod(name).uid);
    if (h == nullptr) return {};
    std::vector<int> chips = scheduler->nodes().node(h->node).topology.indices(h->chips);
    chips.insert(chips.end(), h->lost.begin(), h->lost.end());
    std::sort(chips.begin(), chips.end());
    return chips;
  }
  const Holding* holding(const std::string& name) const {
    return scheduler->ledger().find(pod(name).uid);
  }

  void pass(std::chrono::milliseconds time) {
    clock.advance(time);
    api.pass(time);
    tick();
  }
  // What the program does by itself now and then.
  void tick() {
    process->run([this] {
      scheduler->tick();
      kubernetes->tick();
    });
  }
  // What happened comes to all watches.
  void feed_all() {
    for (std::size_t n = 0; n < api.watches(); ++n) api.feed(n, 1'000'000);
  }
  // Everything is said and done, and every promise is over.
  void come_to_rest() {
    api.settle();
    for (int second = 0; second < 200; ++second) {
      pass(std::chrono::seconds(1));
      api.settle();
    }
  }

  // No chip of a node is in the annotations of two bound pods.
  void expect_no_chip_twice() const {
    std::map<std::pair<std::string, int>, std::string> owner;
    for (const auto& [key, p] : api.pods) {
      for (const int chip : annotated(p)) {
        const auto [it, fresh] = owner.try_emplace({p.node, chip}, key);
        EXPECT_TRUE(fresh) << "chip " << chip << " of " << p.node << ": " << key << " and "
                           << it->second;
      }
    }
  }
  // At rest the ledger is what the API server says.
  void expect_ledger_is_the_truth() const {
    EXPECT_EQ(scheduler->check_invariants(), "");
    std::size_t bound = 0;
    for (const auto& [key, p] : api.pods) {
      const Holding* h = scheduler->ledger().find(p.uid);
      if (p.node.empty() || p.chips == 0) {
        EXPECT_EQ(h, nullptr) << key << " is not bound, but holds chips";
        continue;
      }
      ++bound;
      ASSERT_NE(h, nullptr) << key << " is bound, but holds nothing";
      EXPECT_EQ(scheduler->nodes().node(h->node).name, p.node);
      const std::vector<int> chips = annotated(p);
      if (chips.empty()) {
        EXPECT_TRUE(h->assumed) << key;
      } else {
        EXPECT_EQ(held(p.name), chips) << key;
      }
      EXPECT_EQ(h->count(), p.chips) << key;
    }
    EXPECT_EQ(scheduler->ledger().bound(), bound);
    EXPECT_EQ(scheduler->ledger().promised(), 0U);
    EXPECT_EQ(scheduler->under_way(), 0U);
  }

  SchedulerOptions options{std::chrono::seconds(30), std::chrono::hours(1000), false};
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  ManualClock& clock = shared->clock;
  SimulatedApi& api = shared->api;
  std::set<std::string>& nodes = shared->nodes;
  std::string replica_name;  // empty: there is only this one
  std::shared_ptr<SimulatedProcess> process = std::make_shared<SimulatedProcess>();
  ResourceTable resources;
  Recorder recorder;
  std::unique_ptr<Observers> observers;
  std::unique_ptr<Kubernetes> kubernetes;
  std::unique_ptr<Scheduler> scheduler;
};

}  // namespace chipweave::sched::testing
