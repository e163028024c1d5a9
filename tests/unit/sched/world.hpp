// World — a scheduler with a manual clock and an in-memory cluster, and shorthands to fill it:
// shared by the tests of this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/fitting.hpp"

namespace chipweave::sched::test {

// A built-in profile. Throws if there is no profile of that name.
domain::NodeTopology profile(const std::string& name);

class World {
 public:
  explicit World(SchedulerOptions options = {});

  ReportAnswer add_node(const std::string& name, const std::string& machine,
                        std::vector<std::string> resources = {}, const std::string& boot = "boot");

  // As many nodes as the table can hold, n0, n1 …
  void fill_table(const std::string& machine);

  ReportAnswer set_health(const std::string& node, int chip, domain::Health health);
  ReportAnswer set_carried(const std::string& node, domain::CarriedPeaks carried);
  ReportAnswer set_given(const std::string& node, domain::GivenChips given);
  ReportAnswer set_gate(const std::string& node, bool open);
  // What its Node object says: nothing, or that the node controller has lost it.
  void set_ready(const std::string& node, bool ready);
  ReportAnswer set_faults(const std::string& node, std::vector<domain::Fault> faults);

  static PodRequest request(const std::string& name, int chips,
                            const std::string& resource = "nvidia.com/gpu");

  // Puts the pod into the cluster.
  PodRequest submit(PodRequest a, int priority = 0);
  PodRequest submit(const std::string& name, int chips,
                    const std::string& resource = "nvidia.com/gpu");

  std::vector<std::string_view> all() const { return {names.begin(), names.end()}; }

  std::set<std::string> fit(const PodRequest& a);
  // Node to reason.
  std::map<std::string, std::string> rejections(const PodRequest& a);
  std::map<std::string, int> scores(const PodRequest& a);
  Result<void> bind(const PodRequest& a, const std::string& node);

  // Indices of the chips that the pod holds.
  std::vector<int> chips(const PodRequest& a) const;
  std::string node_of(const PodRequest& a) const;
  const ClusterPod& pod(const PodRequest& a) const { return *cluster.find(a.key); }
  void expect_sound() const;

  ManualClock clock;
  MemoryCluster cluster;
  Observers observer;
  Scheduler scheduler;
  std::set<std::string> names;
  std::uint64_t sequence = 0;

 private:
  InventoryReport next_report(const std::string& node, const std::string& boot);
};

}  // namespace chipweave::sched::test
