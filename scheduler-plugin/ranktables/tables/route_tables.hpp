// RouteTables — what a job that runs on ModelArts or CCE reads: the tables of the Volcano plugin
// configmap1980 and the plan by which its pods number themselves (RANK_AFTER_ACC). Pure: reads the
// scheduler's state. docs/reference/route-planning.md has the rules.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ranktable/table.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/ranktables/table_pod.hpp"

namespace chipweave::sched {

// The rank by the plan of each pod, by uid: those that run have read it, so they keep theirs when
// others are replaced.
using KeptPlan = std::map<std::string, std::size_t, std::less<>>;

struct RouteTables {
  std::vector<std::string> missing;  // for people
  std::string problem;               // why there can be no tables, for people; empty: nothing
  bool switches = false;             // every pod asks for them
  // While something is missing or wrong: of status initializing, with the servers of the table
  // before.
  domain::ranktable::RankTable ranks;
  domain::ranktable::RankTable tors;
  std::vector<std::size_t> plan;  // rank of each pod, by index; empty: nothing to plan, or not yet
  KeptPlan kept;                  // the same by uid

  bool complete() const { return missing.empty() && problem.empty(); }
};

// Of the files of another process: of pods that are still where ranktable_tor.json has them.
KeptPlan kept_plan(const std::vector<const TablePod*>& pods, std::string_view tors,
                   std::string_view plan);

// pods: of one job, at least one of which requests chips. expected: how many pods the job has; 0:
// it is not known. previous: jobstart_hccl.json before this one, whose devices keep their ranks;
// null: there is none. kept: of the plan before. Cost: O(pods log pods + devices log devices).
RouteTables route_tables_of(const std::vector<const TablePod*>& pods, int expected,
                            const Scheduler& scheduler,
                            const domain::ranktable::RankTable* previous, const KeptPlan& kept);

}  // namespace chipweave::sched
