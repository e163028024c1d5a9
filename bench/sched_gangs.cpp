// sched_gangs — what whole gangs cost the scheduler's loop: the plan of a gang of 1,000 pods on
// 5,000 nodes, the check of gangs that wait behind their gates, and taking up the plans of an
// earlier term.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/cpu_time.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::bench {
namespace {

using namespace sched;

constexpr int kNodes = 5000;
constexpr int kNodesOfABlock = 256;
constexpr int kNodesOfARack = 16;
constexpr int kChips = 8;
constexpr const char* kResource = "nvidia.com/gpu";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "bench_sched_gangs: %s\n", why.c_str());
  std::exit(1);
}

double time_of(const std::function<void()>& work) {
  const double begin = cpu_ms();
  work();
  return cpu_ms() - begin;
}

class CpuClock final : public Clock {
 public:
  Steady now() const override {
    return Steady() + std::chrono::nanoseconds(static_cast<std::int64_t>(cpu_ms() * 1e6));
  }
  Wall wall() const override { return Wall(); }
};

struct PlanTimes final : Observer {
  void on(const Observation& seen) override {
    const auto* planned = std::get_if<GangPlanned>(&seen);
    if (planned == nullptr) return;
    pods = planned->pods;
    ms = std::chrono::duration<double, std::milli>(planned->took).count();
    search_ms = std::chrono::duration<double, std::milli>(planned->searched).count();
  }
  std::size_t pods = 0;
  double ms = 0;
  double search_ms = 0;
};

struct Store final : PlanStore {
  void put(const StoredPlan& plan, Done done) override {
    plans[plan.gang] = plan;
    done({});
  }
  void remove(const std::string& gang) override { plans.erase(gang); }
  void each(const std::function<void(const StoredPlan&)>& visit) const override {
    for (const auto& [gang, plan] : plans) visit(plan);
  }
  std::map<std::string, StoredPlan> plans;
};

class Cluster {
 public:
  Cluster() {
    pods_.set_listener(&scheduler_.reconciler());
    scheduler_.use(store_);
    const auto* known = profiles::find("hgx-h100-8");
    const auto imported = codec::import_topology_json(known->json, {});
    if (!imported) fail(imported.error().text());
    for (int n = 0; n < kNodes; ++n) {
      InventoryReport report;
      report.node = "n" + std::to_string(n);
      report.boot_id = "boot";
      report.sequence = 1;
      report.resources = {kResource};
      report.topology = imported->topology;
      const std::string block = "b" + std::to_string(n / kNodesOfABlock);
      const std::string rack = block + "-r" + std::to_string(n % kNodesOfABlock / kNodesOfARack);
      scheduler_.network().set_labels(report.node, {{"cloud.provider.com/topology-block", block},
                                                    {"cloud.provider.com/topology-rack", rack}});
      scheduler_.report(std::move(report));
    }
    scheduler_.tick();
  }

  void add(const std::string& gang, int size, int from, int to) {
    for (int i = from; i < to; ++i) {
      ClusterPod pod;
      pod.request.key = {"ns", gang + "-" + std::to_string(i)};
      pod.request.uid = "uid-" + pod.request.key.name;
      pod.request.resource = kResource;
      pod.request.chips = kChips;
      GangMark mark;
      mark.framework = "chipweave";
      mark.name = gang;
      mark.index = i;
      mark.size = size;
      pod.request.mark = std::make_shared<const GangMark>(std::move(mark));
      pod.gated = true;
      if (const auto added = pods_.add(std::move(pod), "{}"); !added) fail(added.error().text());
    }
  }
  void bind(const std::string& gang, int from, int to) {
    for (int i = from; i < to; ++i) {
      const ClusterPod* pod = pods_.find({"ns", gang + "-" + std::to_string(i)});
      const GangPlans::Where at = scheduler_.gang_plans().of(pod->request.uid);
      const Holding* held = scheduler_.gang_plans().holding_of(*at.slot);
      const Binding binding{pod->request.key, pod->request.uid,
                            scheduler_.nodes().node(held->node).name};
      scheduler_.bindings().bind(binding, [](const Result<void>& bound) {
        if (!bound) fail(bound.error().text());
      });
    }
  }
  void check() { scheduler_.gang_gates().check(); }
  std::size_t reserved() const { return scheduler_.ledger().reserved(); }
  const PlanTimes& planned() const { return observer_; }
  void next_term() {
    scheduler_.step_down();
    scheduler_.tick();
  }

 private:
  CpuClock clock_;
  MemoryCluster pods_;
  PlanTimes observer_;
  Store store_;
  Scheduler scheduler_{clock_, pods_, observer_};
};

void plan_of_a_large_gang() {
  constexpr int kPods = 1000;
  Cluster cluster;
  std::vector<double> searches;
  std::vector<double> plans;
  std::vector<double> checks;
  cluster.add("warm", 2, 0, 2);
  cluster.check();
  for (int run = 0; run < 5; ++run) {
    const std::string name = "train" + std::to_string(run);
    cluster.add(name, kPods, 0, kPods);
    checks.push_back(time_of([&] { cluster.check(); }));
    if (cluster.planned().pods != kPods) fail("not planned");
    plans.push_back(cluster.planned().ms);
    searches.push_back(cluster.planned().search_ms);
  }
  for (auto* times : {&searches, &plans, &checks}) std::sort(times->begin(), times->end());
  std::printf(
      "plan of %d pods: nodes, chips and ranks median %.1f ms, max %.1f ms; with their reservation "
      "%.1f, %.1f ms; with the opening of their gates, too, %.1f ms\n",
      kPods, searches[searches.size() / 2], searches.back(), plans[plans.size() / 2], plans.back(),
      checks[checks.size() / 2]);
}

void check_of_waiting_gangs() {
  constexpr int kGangs = 50;
  constexpr int kPods = 3000;  // two do not fit together
  Cluster cluster;
  for (int g = 0; g < kGangs; ++g) cluster.add("g" + std::to_string(g), kPods, 0, kPods);
  const double first = time_of([&] { cluster.check(); });
  std::vector<double> later;
  for (int run = 0; run < 200; ++run) later.push_back(time_of([&] { cluster.check(); }));
  const double worst = *std::max_element(later.begin(), later.end());
  std::nth_element(later.begin(), later.begin() + 100, later.end());
  std::printf("%d gangs of %d pods wait: first check %.1f ms, later median %.2f ms, max %.1f ms\n",
              kGangs, kPods, first, later[100], worst);
}

void plans_of_an_earlier_term() {
  constexpr int kGangs = 100;
  constexpr int kPods = 48;
  Cluster cluster;
  for (int g = 0; g < kGangs; ++g) {
    cluster.add("g" + std::to_string(g), kPods, 0, kPods);
    cluster.check();
    cluster.check();
    cluster.bind("g" + std::to_string(g), 0, kPods / 2);
  }
  cluster.check();
  const std::size_t before = cluster.reserved();
  cluster.next_term();
  const double took = time_of([&] { cluster.check(); });
  if (cluster.reserved() != before) fail("not all of them were taken up");
  std::printf("%d half-bound gangs of %d pods are taken up in %.1f ms\n", kGangs, kPods, took);
}

}  // namespace
}  // namespace chipweave::bench

// Without arguments all of them.
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  if (only.empty() || only == "plan") chipweave::bench::plan_of_a_large_gang();
  if (only.empty() || only == "wait") chipweave::bench::check_of_waiting_gangs();
  if (only.empty() || only == "restore") chipweave::bench::plans_of_an_earlier_term();
}
