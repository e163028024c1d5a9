// DeploymentTables — the table of an inference deployment from its pods: MindIE's global one, or
// those of instances that either prefill or decode. Pure: reads the scheduler's state.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/ranktables/job_members.hpp"
#include "scheduler-plugin/ranktables/table_pod.hpp"
#include "scheduler-plugin/ranktables/tables/published_table.hpp"

namespace chipweave::sched {

// A job of a deployment.
struct DeploymentJob {
  std::string name;
  DeploymentRole role = DeploymentRole::none;
  const JobMembers& members;
  const TablePod* pod;  // one of its pods; null: they are gone
};

struct DeploymentParts {
  // Without chips: coordinators, controllers, schedulers; by key.
  const std::map<std::string, TablePod, std::less<>>& heads;
  std::vector<DeploymentJob> jobs;  // in the natural order of their names
};

// Both set the text and whether it is complete, else what is missing or wrong; a text that is there
// stays until the next is complete. Cost: O(pods + devices log devices).
void fill_mindie_table(const DeploymentParts& parts, const Scheduler& scheduler,
                       std::size_t max_bytes, PublishedTable& to);
void fill_pd_table(const DeploymentParts& parts, const Scheduler& scheduler, std::size_t max_bytes,
                   PublishedTable& to);

}  // namespace chipweave::sched
