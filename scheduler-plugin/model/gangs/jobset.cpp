#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

// Each of its Jobs is a role, "workers/0": the completion index counts within a Job.
void read_jobset(const PodMarks& marks, GangMark& to) {
  to.name = marks.label("jobset.sigs.k8s.io/jobset-name");
  const std::string_view job = marks.label("jobset.sigs.k8s.io/replicatedjob-name");
  if (to.name.empty() || job.empty()) return;
  to.role = job;
  const std::string_view number = marks.label("jobset.sigs.k8s.io/job-index");
  if (number.empty()) return;
  to.role += "/" + std::string(number);
  to.index = marks.number("batch.kubernetes.io/job-completion-index", 0, to.problem);
}

}  // namespace chipweave::sched::gangs
