// VictimUnit — pods that end together so that a gang fits: a single pod, or all bound pods of a
// gang, because the end of one of them ends the work of the others.
//
// A unit is a candidate if all its pods have a lower priority than the gang, are bound with chips
// that are known and not shared, and may be evicted by the budgets (PodDisruptionBudget). Of a gang
// also the pods that wait must hold nothing. The API server evicts no pod that two budgets cover.
// Chips of pods that end already come free at no cost, those excepted that kube-scheduler expects
// for another pod. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"
#include "scheduler-plugin/app/nominations.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/state/evictions.hpp"

namespace chipweave::sched {

struct VictimPod {
  PodKey key;
  std::string uid;
  NodeId node = kNoNode;
  ChipSet chips;  // that come free with it and can be used
  NodeUse use;
};

struct VictimUnit {
  std::optional<GangRef> gang;  // nullopt: a single pod
  // Whether a gang is broken by it that is not broken already by pods that are gone or end.
  bool breaks_gang = false;
  std::vector<VictimPod> pods;
  int priority = 0;       // the highest of its pods
  std::int64_t sum = 0;   // of their priorities
  std::size_t chips = 0;  // that come free with them
  // Budgets, and how many of its pods each covers.
  std::vector<std::pair<std::size_t, int>> covered;
};

// What comes free on nodes, pod by pod.
class FreedSum {
 public:
  void add(NodeId node, ChipSet chips, const NodeUse& use);
  void add(const VictimUnit& unit);
  // What is kept there, without CPU and memory.
  void add(const KeptChips::ByNode& kept);
  FreedOnNodes result(const SchedulerState& state) const;

 private:
  struct Sum {
    ChipSet chips;
    NodeUse use;
  };
  std::map<NodeId, Sum> sums_;
};

class VictimUnits : public UseCase {
 public:
  VictimUnits(Core& core, const Nominations& nominations)
      : UseCase(core), nominations_(nominations) {}

  // The candidates for the gang, whose pods have at most this priority and request this resource.
  // Cost: O(pods with chips).
  std::vector<VictimUnit> candidates(const Gang& gang, int priority, const std::string& resource,
                                     const std::vector<DisruptionBudget>& budgets) const;
  // What comes free on nodes without it: with pods that end.
  FreedSum coming_free(int priority) const;
  // Whether the pod still holds these chips.
  bool holds(const VictimPod& pod) const;
  // Whether what it holds comes free without us: it ends, or is gone.
  bool ends(const VictimPod& pod) const;
  // The namespaces of bound pods that have a lower priority.
  std::set<std::string> namespaces_below(int priority) const;

 private:
  const ClusterPod* bound_pod(const Holding& holding) const;
  std::optional<VictimUnit> gang_unit(const Gang& victim, int priority) const;
  VictimPod victim_of(const Holding& holding, const ClusterPod& pod) const;
  void add_to(VictimUnit& unit, const Holding& holding, const ClusterPod& pod) const;

  const Nominations& nominations_;
};

}  // namespace chipweave::sched
