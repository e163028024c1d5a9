// JobMembers — the pods of one job as its rank tables need them: in the order of their ranks, with
// what the scheduler knows of their devices and machines. Pure: reads the scheduler's state.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/ranktable/assembly/job_table.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/ranktables/table_pod.hpp"

namespace chipweave::sched {

struct JobMembers {
  // By rank. Empty while pods are missing, of which `missing` tells, and where none requests chips.
  std::vector<std::optional<domain::ranktable::Member>> members;
  domain::ranktable::JobTableForm form;
  std::vector<std::string> missing;  // for people
  std::string problem;               // why there can be no table, for people; empty: nothing
};

// Whether the pods of a job are there.
struct Presence {
  std::vector<std::string> missing;  // for people
  std::string problem;               // the same
};
// expected: how many pods the job has; 0: it is not known.
Presence presence_of(std::size_t there, int expected);

// Rank by the pod's name, of jobs whose pods have no number: a pod keeps it, and a new one gets one
// that is free.
using KeptRanks = std::map<std::string, int, std::less<>>;

// pods: of one job, at least one. expected: how many pods the job has; 0: it is not known. kept:
// of the table before, updated. Pods without chips have no rank. Cost: O(pods log pods + devices).
JobMembers members_of(const std::vector<const TablePod*>& pods, int expected,
                      domain::ranktable::ServerNames names, const Scheduler& scheduler,
                      KeptRanks& kept);

// The ranks of the pods in the job's table before, as another process wrote it; of pods whose
// devices it does not have, none.
KeptRanks ranks_in(const domain::ranktable::RankTable& table,
                   const std::vector<const TablePod*>& pods, domain::ranktable::ServerNames names,
                   const Scheduler& scheduler);

// One pod, with the devices and the super pod that its annotations do not name.
domain::ranktable::Member member_of(const TablePod& pod, const Scheduler& scheduler);

}  // namespace chipweave::sched
