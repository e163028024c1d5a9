#include "scheduler-plugin/model/pod.hpp"

#include <algorithm>
#include <array>

namespace chipweave::sched {
namespace {

// The outer controller before the inner one: a JobSet's pods also carry the name of their batch
// Job.
struct JobLabel {
  const char* name;
  const char* within;  // a second label that makes it unique; null: none
};
constexpr std::array<JobLabel, 12> kJobLabels{{
    {"gpu-topology", nullptr},
    {"volcano.sh/job-name", nullptr},
    {"training.kubeflow.org/job-name", nullptr},
    {"jobset.sigs.k8s.io/jobset-name", nullptr},
    {"leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"},
    {"elasticjob.dlrover/name", nullptr},
    {"ray.io/cluster", nullptr},
    {"scheduling.x-k8s.io/pod-group", nullptr},
    {"pod-group.scheduling.sigs.k8s.io", nullptr},
    {"batch.kubernetes.io/job-name", nullptr},
    {"job-name", nullptr},
    {"jobID", "app"},
}};

}  // namespace

bool is_member(const PodRequest& pod) {
  return pod.group && pod.group->replicas > 1 && pod.chips > 0;
}

std::string group_id(const PodRequest& pod) { return pod.key.ns + "/" + pod.group->name; }

std::string job_identity(const PodRequest& pod) {
  if (!pod.job.empty()) return pod.job;
  for (const JobLabel& label : kJobLabels) {
    const auto it = pod.labels.find(label.name);
    if (it == pod.labels.end() || it->second.empty()) continue;
    std::string identity = pod.key.ns + '\n' + label.name + '\n' + it->second;
    if (label.within != nullptr) {
      const auto inner = pod.labels.find(label.within);
      if (inner != pod.labels.end()) identity += '\n' + inner->second;
    }
    return identity;
  }
  return pod.gang;
}

std::string job_name(const PodRequest& pod) {
  std::string identity = job_identity(pod);
  const std::size_t label = identity.find('\n');
  const std::size_t value = label == std::string::npos ? label : identity.find('\n', label + 1);
  if (value == std::string::npos) return identity;
  identity.erase(0, value + 1);
  std::replace(identity.begin(), identity.end(), '\n', '/');
  return identity;
}

}  // namespace chipweave::sched
