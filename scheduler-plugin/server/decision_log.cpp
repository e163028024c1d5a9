#include "scheduler-plugin/server/decision_log.hpp"

#include "common/base/text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {

void DecisionLog::bound(const BoundPod& pod) {
  obs::log(obs::Level::info, "bound",
           {{"pod", pod.pod.text()},
            {"node", pod.node},
            {"chips", pod.chips},
            {"gbps", pod.gbps},
            {"best_gbps", pod.best_gbps},
            {"decision", pod.decision}});
}

void DecisionLog::bind_failed(const Binding& binding, const Error& error) {
  obs::log(obs::Level::warn, "bind failed",
           {{"pod", binding.key.text()}, {"node", binding.node}, {"error", error.text()}});
}

void DecisionLog::disputed(const PodKey& pod, std::string_view node,
                           const std::vector<int>& chips) {
  obs::log(obs::Level::error, "a bound pod claims chips of another bound pod",
           {{"pod", pod.text()}, {"node", node}, {"chips", comma_list(chips)}});
}

void DecisionLog::unaccounted(const PodKey& pod, std::string_view node) {
  obs::log(obs::Level::error, "the node table is full: a bound pod's node is not accounted for",
           {{"pod", pod.text()}, {"node", node}});
}

}  // namespace chipweave::sched
