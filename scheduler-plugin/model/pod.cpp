#include "scheduler-plugin/model/pod.hpp"

#include "common/domain/pod_labels.hpp"

namespace chipweave::sched {

std::string read_wishes(PodRequest& pod) {
  domain::PodWishes wishes{pod.needs_gbps, pod.objective};
  std::string problem = domain::read_wishes(pod.annotations, wishes);
  pod.needs_gbps = wishes.needs_gbps;
  pod.objective = wishes.objective;
  return problem;
}

bool is_member(const PodRequest& pod) {
  return pod.group && pod.group->replicas > 1 && pod.chips > 0;
}

std::string group_id(const PodRequest& pod) { return pod.key.ns + "/" + pod.group->name; }

std::string job_identity(const PodRequest& pod) {
  if (!pod.job.empty()) return pod.job;
  std::string identity = domain::job_identity(pod.key.ns, pod.labels);
  return identity.empty() ? pod.gang : identity;
}

std::string job_name(const PodRequest& pod) { return domain::job_name(job_identity(pod)); }

}  // namespace chipweave::sched
