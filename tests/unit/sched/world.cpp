#include "tests/unit/sched/world.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::sched::test {

domain::NodeTopology profile(const std::string& name) {
  const auto* p = profiles::find(name);
  if (p == nullptr) throw std::runtime_error("no profile " + name);
  auto t = codec::import_topology_json(p->json, {});
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

World::World(SchedulerOptions options) : scheduler(clock, cluster, observer, std::move(options)) {
  cluster.set_listener(&scheduler.reconciler());
}

InventoryReport World::next_report(const std::string& node, const std::string& boot) {
  InventoryReport r;
  r.node = node;
  r.boot_id = boot;
  r.sequence = ++sequence;
  return r;
}

ReportAnswer World::add_node(const std::string& name, const std::string& machine,
                             std::vector<std::string> resources, const std::string& boot) {
  InventoryReport r = next_report(name, boot);
  r.machine = machine;
  r.resources = std::move(resources);
  r.topology = profile(machine);
  names.insert(name);
  return scheduler.report(std::move(r));
}

void World::fill_table(const std::string& machine) {
  InventoryReport r = next_report("", "boot");
  r.topology = profile(machine);
  for (std::size_t i = 0; i < limits::kMaxNodes; ++i) {
    r.node = "n" + std::to_string(i);
    r.sequence = ++sequence;
    ASSERT_EQ(scheduler.report(r), ReportOutcome::taken);
  }
}

ReportAnswer World::set_health(const std::string& node, int chip, domain::Health health) {
  InventoryReport r = next_report(node, "boot");
  r.chips = {{{chip}, health}};
  return scheduler.report(std::move(r));
}

ReportAnswer World::set_carried(const std::string& node, domain::CarriedPeaks carried) {
  InventoryReport r = next_report(node, "boot");
  r.carried = std::move(carried);
  return scheduler.report(std::move(r));
}

ReportAnswer World::set_given(const std::string& node, domain::GivenChips given) {
  InventoryReport r = next_report(node, "boot");
  r.given = std::move(given);
  return scheduler.report(std::move(r));
}

ReportAnswer World::set_gate(const std::string& node, bool open) {
  InventoryReport r = next_report(node, "boot");
  r.enforcement = domain::Enforcement::device_plugin;
  r.gate_open = open;
  return scheduler.report(std::move(r));
}

void World::set_ready(const std::string& node, bool ready) {
  domain::NodeStanding standing;
  if (!ready) standing.taints.push_back({"node.kubernetes.io/unreachable", "", "NoSchedule"});
  scheduler.node_takes(node, standing);
}

ReportAnswer World::set_faults(const std::string& node, std::vector<domain::Fault> faults) {
  InventoryReport r = next_report(node, "boot");
  r.faults = std::move(faults);
  return scheduler.report(std::move(r));
}

PodRequest World::request(const std::string& name, int chips, const std::string& resource) {
  PodRequest a;
  a.key = {"ns", name};
  a.uid = "uid-" + name;
  a.resource = chips > 0 ? resource : "";
  a.chips = chips;
  return a;
}

PodRequest World::submit(PodRequest a, int priority) {
  ClusterPod pod;
  pod.request = std::move(a);
  pod.priority = priority;
  auto added = cluster.add(pod, "{}");
  if (!added) throw std::runtime_error(added.error().text());
  return (*added)->request;
}

PodRequest World::submit(const std::string& name, int chips, const std::string& resource) {
  return submit(request(name, chips, resource));
}

std::set<std::string> World::fit(const PodRequest& a) {
  const auto n = all();
  const auto fit = fitting(scheduler, a, n);
  return {fit.begin(), fit.end()};
}

std::map<std::string, std::string> World::rejections(const PodRequest& a) {
  const auto n = all();
  const Evaluation& evaluation = scheduler.extender().filter(a, n);
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < n.size(); ++i) {
    if (!evaluation.of(i).fits()) out[std::string(n[i])] = evaluation.of(i).reason;
  }
  return out;
}

std::map<std::string, int> World::scores(const PodRequest& a) {
  const auto n = all();
  const Evaluation& evaluation = scheduler.extender().prioritize(a, n);
  std::map<std::string, int> out;
  for (std::size_t i = 0; i < n.size(); ++i) out[std::string(n[i])] = evaluation.score(i);
  return out;
}

Result<void> World::bind(const PodRequest& a, const std::string& node) {
  Result<void> outcome = make_error(Errc::internal, "no answer");
  scheduler.bindings().bind({a.key, a.uid, node},
                            [&](Result<void> result) { outcome = std::move(result); });
  return outcome;
}

std::vector<int> World::chips(const PodRequest& a) const {
  const Holding* h = scheduler.ledger().find(a.uid);
  return h == nullptr ? std::vector<int>{}
                      : scheduler.nodes().node(h->node).topology.indices(h->chips);
}

std::string World::node_of(const PodRequest& a) const {
  const Holding* h = scheduler.ledger().find(a.uid);
  return h == nullptr ? "" : scheduler.nodes().node(h->node).name;
}

void World::expect_sound() const { EXPECT_EQ(scheduler.check_invariants(), ""); }

}  // namespace chipweave::sched::test
