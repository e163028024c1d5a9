#include "common/domain/pod_labels.hpp"

#include <algorithm>
#include <array>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::domain {
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

std::string job_identity(const std::string& ns, const PodLabels& labels) {
  for (const JobLabel& label : kJobLabels) {
    const auto it = labels.find(label.name);
    if (it == labels.end() || it->second.empty()) continue;
    std::string identity = ns + '\n' + label.name + '\n' + it->second;
    if (label.within != nullptr) {
      const auto inner = labels.find(label.within);
      if (inner != labels.end()) identity += '\n' + inner->second;
    }
    return identity;
  }
  return {};
}

std::string job_name(std::string identity) {
  const std::size_t label = identity.find('\n');
  const std::size_t value = label == std::string::npos ? label : identity.find('\n', label + 1);
  if (value == std::string::npos) return identity;
  identity.erase(0, value + 1);
  std::replace(identity.begin(), identity.end(), '\n', '/');
  return identity;
}

std::string read_wishes(const PodLabels& annotations, PodWishes& to) {
  constexpr std::size_t kShown = 32;
  if (const auto found = annotations.find("chipweave.dev/needs-gbps"); found != annotations.end()) {
    const auto gbps = parse_number<double>(found->second);
    if (!gbps || !(*gbps > 0) || *gbps > limits::kMaxGbps)
      return "annotation chipweave.dev/needs-gbps is '" + found->second.substr(0, kShown) +
             "'; expected a number of GB/s above 0";
    to.needs_gbps = *gbps;
  }
  if (const auto found = annotations.find("chipweave.dev/objective"); found != annotations.end()) {
    const auto objective = parse_objective(found->second);
    if (!objective)
      return "annotation chipweave.dev/objective is '" + found->second.substr(0, kShown) +
             "'; expected bandwidth, latency or all_to_all";
    to.objective = *objective;
  }
  return {};
}

}  // namespace chipweave::domain
