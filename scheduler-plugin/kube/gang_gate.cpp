#include "scheduler-plugin/kube/gang_gate.hpp"

#include <algorithm>

namespace chipweave::sched {

bool wants_gate(const codec::KubePod& pod, const ResourceTable& resources,
                const GateOptions& options) {
  if (!pod.node_name.empty() || has_gang_gate(pod)) return false;
  const auto mark = gang_mark_of(pod);
  if (mark == nullptr || std::find(options.frameworks.begin(), options.frameworks.end(),
                                   mark->framework) == options.frameworks.end())
    return false;
  return count_request(pod, resources).request.chips > 0;
}

bool has_gang_gate(const codec::KubePod& pod) {
  return std::find(pod.gates.begin(), pod.gates.end(), kGangGate) != pod.gates.end();
}

bool has_foreign_gates(const codec::KubePod& pod) {
  return std::any_of(pod.gates.begin(), pod.gates.end(),
                     [](const std::string& gate) { return gate != kGangGate; });
}

}  // namespace chipweave::sched
