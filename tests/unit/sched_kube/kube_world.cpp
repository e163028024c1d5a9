#include "tests/unit/sched_kube/kube_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/topology/import.hpp"
#include "common/obs/log.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"

namespace chipweave::sched::test {

KubeWorld::KubeWorld(bool streaming) {
  obs::set_level("error");
  api.streaming_lists = streaming;
  start();
}

KubeWorld::KubeWorld(const char* replica, const KubeWorld* other)
    : shared(other == nullptr ? std::make_shared<Shared>() : other->shared), replica_name(replica) {
  obs::set_level("error");
  start();
}

KubeWorld::~KubeWorld() = default;

void KubeWorld::start() {
  KubernetesOptions kube_options;
  kube_options.lease_namespace = "chipweave-system";
  kube_options.jitter = [] { return 0.5; };
  kube_options.allocate_claims = shared->allocate_claims;
  if (const auto& [ns, name] = shared->network_config_map; !name.empty())
    kube_options.network_config_map = {ns, name};
  kube_options.store_gang_plans = shared->store_gang_plans;
  kube_options.write_hostfiles = shared->write_hostfiles;
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
  if (shared->store_gang_plans) scheduler->use(kubernetes->plans());
  kubernetes->start(*scheduler);
}

void KubeWorld::kill() {
  process->held.clear();
  process->paused = false;
  scheduler.reset();
  kubernetes.reset();
}

void KubeWorld::restart() {
  kill();
  start();
}

bool KubeWorld::leads() const { return scheduler->authority().cannot_decide().empty(); }

void KubeWorld::add_node(const std::string& name, const std::string& machine,
                         const std::map<int, domain::Health>& health,
                         const std::vector<domain::Fault>& faults) {
  const auto* p = profiles::find(machine);
  ASSERT_NE(p, nullptr) << machine;
  add_machine(name, machine, std::string(p->json), health, faults);
}

void KubeWorld::add_machine(const std::string& name, const std::string& machine,
                            const std::string& description,
                            const std::map<int, domain::Health>& health,
                            const std::vector<domain::Fault>& faults) {
  auto t = codec::import_topology_json(description, {});
  ASSERT_TRUE(t.ok()) << t.error().text();
  codec::NodeInventory inventory;
  inventory.node = name;
  inventory.boot_id = "boot";
  inventory.sequence = ++shared->sequence;
  inventory.machine = machine;
  inventory.resources = {"aliyun.com/gpu", "nvidia.com/gpu"};
  inventory.topology = t->topology;
  inventory.faults = faults;
  inventory.enforcement = shared->enforcement;
  auto status =
      nlohmann::json::parse(codec::write_inventory_status(inventory, {"u", "1"}))["status"];
  for (auto& chip : status["topology"]["chips"]) {
    chip["id"] = gpu_id(name, chip["index"].get<int>());
    const auto it = health.find(chip["index"].get<int>());
    if (it != health.end())
      chip["health"] = it->second == domain::Health::unhealthy ? "unhealthy" : "healthy";
  }
  api.set_inventory(name, status.dump());
  nodes.insert(name);
  if (shared->enforcement != domain::Enforcement::dra) return;
  std::vector<std::string> ids;
  for (const auto& chip : status["topology"]["chips"])
    ids.push_back(gpu_id(name, chip["index"].get<int>()));
  api.set_slice(name, ids, true);
}

void KubeWorld::create(const std::string& name, int chips, const std::string& resource,
                       const std::map<std::string, std::string>& labels, int priority) {
  ServerPod pod;
  pod.ns = "ns";
  pod.name = name;
  pod.resource = resource;
  pod.chips = chips;
  pod.labels = labels;
  pod.priority = priority;
  api.create(std::move(pod));
}

PodRequest KubeWorld::request(const ServerPod& pod) const {
  codec::KubePod kube;
  kube.ns = pod.ns;
  kube.name = pod.name;
  kube.uid = pod.uid;
  kube.gang = pod.gang;
  kube.labels.insert(pod.labels.begin(), pod.labels.end());
  codec::KubeContainer container;
  if (pod.chips > 0) container.limits[pod.resource] = std::to_string(pod.chips);
  kube.containers.push_back(container);
  return count_request(kube, resources).request;
}

std::vector<std::string> KubeWorld::fit(const std::string& name) {
  const auto names = all_nodes();
  const auto fit = fitting(*scheduler, request(pod(name)), names);
  return {fit.begin(), fit.end()};
}

std::shared_ptr<std::string> KubeWorld::bind(const std::string& name, const std::string& node) {
  const ServerPod& p = pod(name);
  return bind_as(p.ns, p.name, p.uid, node);
}

std::shared_ptr<std::string> KubeWorld::bind_as(const std::string& ns, const std::string& name,
                                                const std::string& uid, const std::string& node,
                                                const std::string& caller) {
  auto outcome = std::make_shared<std::string>();
  scheduler->bindings().bind({{ns, name}, uid, node, caller},
                             [outcome](const Result<void>& result) {
                               *outcome = result ? "bound" : result.error().text();
                             });
  return outcome;
}

std::vector<int> KubeWorld::annotated(const ServerPod& pod) {
  const auto it = pod.annotations.find(kPlacementAnnotation);
  if (it == pod.annotations.end()) return {};
  const auto json = nlohmann::json::parse(it->second);
  if (json["podUid"] != pod.uid || json["node"] != pod.node) return {};
  std::vector<int> chips;
  for (const auto& chip : json["chips"]) chips.push_back(chip["index"]);
  return chips;
}

std::vector<int> KubeWorld::held(const std::string& name) const {
  const Holding* h = holding(name);
  if (h == nullptr) return {};
  std::vector<int> chips = scheduler->nodes().node(h->node).topology.indices(h->chips);
  chips.insert(chips.end(), h->unreported.begin(), h->unreported.end());
  std::sort(chips.begin(), chips.end());
  return chips;
}

const Holding* KubeWorld::holding(const std::string& name) const {
  return scheduler->ledger().find(pod(name).uid);
}

void KubeWorld::pass(std::chrono::milliseconds time) {
  clock.advance(time);
  api.pass(time);
  tick();
}

void KubeWorld::tick() {
  process->run([this] {
    scheduler->tick();
    kubernetes->tick();
  });
}

void KubeWorld::feed_all() {
  for (std::size_t n = 0; n < api.watches(); ++n) api.feed(n, 1'000'000);
}

void KubeWorld::come_to_rest() {
  api.settle();
  for (int second = 0; second < 200; ++second) {
    pass(std::chrono::seconds(1));
    api.settle();
  }
}

void KubeWorld::expect_no_chip_twice() const {
  std::map<std::pair<std::string, int>, std::string> owner;
  for (const auto& [key, p] : api.pods) {
    for (const int chip : annotated(p)) {
      const auto [it, fresh] = owner.try_emplace({p.node, chip}, key);
      EXPECT_TRUE(fresh) << "chip " << chip << " of " << p.node << ": " << key << " and "
                         << it->second;
    }
  }
}

void KubeWorld::expect_claims_are_the_annotations(const std::set<std::string>& others) const {
  for (const auto& [key, p] : api.pods) {
    if (p.node.empty() || p.chips == 0 || others.contains(p.uid)) continue;
    std::vector<std::string> devices;
    for (const int chip : annotated(p)) devices.push_back("gpu-" + std::to_string(chip));
    EXPECT_EQ(p.claim, "chipweave-" + p.uid) << key;
    EXPECT_EQ(api.pod_claims.devices(p.claim), devices) << key;
  }
}

void KubeWorld::expect_ledger_is_the_truth() const {
  EXPECT_EQ(scheduler->check_invariants(), "");
  std::size_t bound = 0;
  std::map<std::string, std::int64_t> cores;
  for (const auto& node : nodes) cores[node] = 0;
  for (const auto& [key, p] : api.pods) {
    if (!p.node.empty()) cores[p.node] += p.cores;
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
      // or a claim tells them that was made for it before others bound it
      EXPECT_TRUE(h->assumed || !api.pod_claims.devices("chipweave-" + p.uid).empty()) << key;
    } else {
      EXPECT_EQ(held(p.name), chips) << key;
    }
    EXPECT_EQ(h->count(), p.chips) << key;
  }
  for (const auto& [node, used] : cores)
    EXPECT_EQ(scheduler->rooms().used(node).milli_cpu, used * 1000) << node;
  EXPECT_EQ(scheduler->ledger().bound(), bound);
  EXPECT_EQ(scheduler->ledger().reserved(), 0U);
  EXPECT_EQ(scheduler->records().in_flight(), 0U);
}

}  // namespace chipweave::sched::test
