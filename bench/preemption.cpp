// preemption — how long one preempt request holds the scheduler's loop: 1,000 candidate nodes with
// 16 pods of one chip each, priorities at random, a pod that asks for 8 chips.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bench/cpu_time.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::bench {
namespace {

using namespace sched;

constexpr int kNodes = 1000;
constexpr int kPods = 16;
constexpr int kAsked = 8;
constexpr int kRuns = 31;
constexpr int kPriorities = 100;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "bench_preemption: %s\n", why.c_str());
  std::exit(1);
}

PodRequest pod(const std::string& name, int chips, const std::string& resource) {
  PodRequest request;
  request.key = {"ns", name};
  request.uid = "uid-" + name;
  request.resource = resource;
  request.chips = chips;
  return request;
}

class Cluster {
 public:
  Cluster(const std::string& profile, std::string resource) : resource_(std::move(resource)) {
    cluster_.set_listener(&scheduler_.reconciler());
    const auto* known = profiles::find(profile);
    if (known == nullptr) fail("there is no profile " + profile);
    const auto imported = codec::import_topology_json(known->json, {});
    if (!imported) fail(imported.error().text());
    for (int n = 0; n < kNodes; ++n) add_node("n" + std::to_string(n), imported->topology);
  }

  // CPU milliseconds of each request, ascending.
  std::vector<double> measure(std::size_t& answered) {
    const PodRequest wanted = pod("wanted", kAsked, resource_);
    std::vector<double> times;
    for (int run = 0; run < kRuns; ++run) {
      const double begin = cpu_ms();
      const auto victims = scheduler_.preemption().choose_victims(wanted, kPriorities, proposed_);
      times.push_back(cpu_ms() - begin);
      answered = static_cast<std::size_t>(std::count_if(
          victims.begin(), victims.end(), [](const auto& uids) { return !uids.empty(); }));
    }
    std::sort(times.begin(), times.end());
    return times;
  }

 private:
  void add_node(const std::string& name, const domain::NodeTopology& topology) {
    InventoryReport report;
    report.node = name;
    report.boot_id = "boot";
    report.sequence = 1;
    report.resources = {resource_};
    report.topology = topology;
    scheduler_.report(std::move(report));
    ProposedVictims proposal{name, {}};
    for (int p = 0; p < kPods; ++p) {
      ClusterPod one;
      one.request = pod(name + "-" + std::to_string(p), 1, resource_);
      one.priority = static_cast<int>(random_() % kPriorities);
      const Binding binding{one.request.key, one.request.uid, name};
      if (p < kAsked) proposal.uids.push_back(one.request.uid);
      if (const auto added = cluster_.add(std::move(one), "{}"); !added) fail(added.error().text());
      scheduler_.bindings().bind(binding, [](const Result<void>& bound) {
        if (!bound) fail(bound.error().text());
      });
    }
    proposed_.push_back(std::move(proposal));
  }

  std::string resource_;
  std::mt19937 random_{7};
  ManualClock clock_;
  MemoryCluster cluster_;
  NullObserver observer_;
  Scheduler scheduler_{clock_, cluster_, observer_};
  std::vector<ProposedVictims> proposed_;
};

void run() {
  std::printf("%-16s %9s %9s %9s\n", "machine", "median ms", "max ms", "answered");
  for (const auto& [machine, resource] : {std::pair("dgx2-v100-16", "nvidia.com/gpu"),
                                          std::pair("ascend-910b-16", "huawei.com/Ascend910"),
                                          std::pair("metax-c550-16", "metax-tech.com/gpu")}) {
    Cluster cluster(machine, resource);
    std::size_t answered = 0;
    const std::vector<double> times = cluster.measure(answered);
    std::printf("%-16s %9.2f %9.2f %9zu\n", machine, times[times.size() / 2], times.back(),
                answered);
  }
}

}  // namespace
}  // namespace chipweave::bench

int main() { chipweave::bench::run(); }
