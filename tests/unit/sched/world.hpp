// A scheduler with a manual clock and an in-memory cluster, and short words to fill it: shared by
// the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::sched::testing {

inline domain::NodeTopology profile(const std::string& name) {
  const auto* p = profiles::find(name);
  if (p == nullptr) throw std::runtime_error("no profile " + name);
  auto t = codec::import_topology_json(p->json, {});
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

class World {
 public:
  World() { cluster.set_listener(&scheduler); }

  ReportAnswer add_node(const std::string& name, const std::string& machine,
                        std::vector<std::string> resources = {}, const std::string& boot = "boot") {
    InventoryReport r;
    r.node = name;
    r.boot_id = boot;
    r.sequence = ++sequence;
    r.machine = machine;
    r.resources = std::move(resources);
    r.topology = profile(machine);
    names.insert(name);
    return scheduler.report(std::move(r));
  }

  // As many nodes as there may be, n0, n1 …
  void fill_table(const std::string& machine) {
    InventoryReport r;
    r.boot_id = "boot";
    r.topology = profile(machine);
    for (std::size_t i = 0; i < limits::kMaxNodes; ++i) {
      r.node = "n" + std::to_string(i);
      r.sequence = ++sequence;
      ASSERT_EQ(scheduler.report(r), ReportOutcome::taken);
    }
  }

  ReportAnswer set_health(const std::string& node, int chip, domain::Health health) {
    InventoryReport r;
    r.node = node;
    r.boot_id = "boot";
    r.sequence = ++sequence;
    r.chips = {{{chip}, health}};
    return scheduler.report(std::move(r));
  }

  ReportAnswer set_faults(const std::string& node, std::vector<domain::Fault> faults) {
    InventoryReport r;
    r.node = node;
    r.boot_id = "boot";
    r.sequence = ++sequence;
    r.faults = std::move(faults);
    return scheduler.report(std::move(r));
  }

  static PodAsk ask(const std::string& name, int chips,
                    const std::string& resource = "nvidia.com/gpu") {
    PodAsk a;
    a.key = {"ns", name};
    a.uid = "uid-" + name;
    a.resource = chips > 0 ? resource : "";
    a.chips = chips;
    return a;
  }

  // Puts the pod into the cluster.
  PodAsk submit(PodAsk a, int priority = 0) {
    ClusterPod pod;
    pod.ask = std::move(a);
    pod.priority = priority;
    auto added = cluster.add(pod, "{}");
    if (!added) throw std::runtime_error(added.error().text());
    return (*added)->ask;
  }
  PodAsk submit(const std::string& name, int chips,
                const std::string& resource = "nvidia.com/gpu") {
    return submit(ask(name, chips, resource));
  }

  std::vector<std::string_view> all() const { return {names.begin(), names.end()}; }

  std::set<std::string> fit(const PodAsk& a) {
    const auto n = all();
    auto answer = scheduler.filter(a, n);
    std::set<std::string> out;
    for (const auto& name : answer.value().fit) out.insert(std::string(name));
    return out;
  }
  std::map<std::string, std::string> rejections(const PodAsk& a) {
    const auto n = all();
    auto answer = scheduler.filter(a, n);
    std::map<std::string, std::string> out;
    for (const auto& r : answer.value().rejected) out[r.node] = r.reason;
    return out;
  }
  std::map<std::string, int> scores(const PodAsk& a) {
    const auto n = all();
    auto answer = scheduler.prioritize(a, n);
    std::map<std::string, int> out;
    for (const auto& s : answer.value()) out[std::string(s.node)] = s.score;
    return out;
  }
  Result<void> bind(const PodAsk& a, const std::string& node) {
    Result<void> outcome = make_error(Errc::internal, "no answer");
    scheduler.bind({a.key, a.uid, node}, [&](Result<void> how) { outcome = std::move(how); });
    return outcome;
  }

  // Indices that the pod holds.
  std::vector<int> chips(const PodAsk& a) const {
    const Holding* h = scheduler.ledger().find(a.uid);
    return h == nullptr ? std::vector<int>{}
                        : scheduler.nodes().node(h->node).topology.indices(h->chips);
  }
  std::string node_of(const PodAsk& a) const {
    const Holding* h = scheduler.ledger().find(a.uid);
    return h == nullptr ? "" : scheduler.nodes().node(h->node).name;
  }
  const ClusterPod& pod(const PodAsk& a) const { return *cluster.find(a.key); }
  void sound() const { EXPECT_EQ(scheduler.check_invariants(), ""); }

  ManualClock clock;
  MemoryCluster cluster;
  NullObserver observer;
  Scheduler scheduler{clock, cluster, observer};
  std::set<std::string> names;
  std::uint64_t sequence = 0;
};

}  // namespace chipweave::sched::testing
