#include "scheduler-plugin/state/jobs.hpp"

namespace chipweave::sched {

void Jobs::add(const PodRequest& pod) {
  const std::string job = job_identity(pod);
  if (!job.empty() && pod.chips > 0) ++members_[job];
}

void Jobs::remove(const PodRequest& pod) {
  const auto it = members_.find(job_identity(pod));
  if (it != members_.end() && pod.chips > 0 && --it->second == 0) members_.erase(it);
}

std::size_t Jobs::members(const std::string& job) const {
  const auto it = members_.find(job);
  return it == members_.end() ? 0 : it->second;
}

}  // namespace chipweave::sched
