// Which chips a bound pod has, from what stands in its annotations: chipweave's own, or those that
// other topology-aware schedulers write where chipweave's is missing.
#pragma once

#include <optional>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

// None if no annotation says it in a form that can be understood. The annotations of others name no
// pod and are taken for the pod's: ACK's topology.kubernetes.io/gpu-group ("0,3"), and those of the
// Ascend components ("huawei.com/Ascend910": "Ascend910-0,Ascend910-1", by physical id).
std::optional<Placement> placement_of(const codec::KubePod& pod, const PodAsk& ask);

}  // namespace chipweave::sched
