// The chips of a bound pod according to its annotations: chipweave's own, or, without it, those of
// other topology-aware schedulers.
#pragma once

#include <optional>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/model/placement.hpp"

namespace chipweave::sched {

// None if no annotation is usable. Annotations of other schedulers do not carry a uid and are
// trusted: ACK's topology.kubernetes.io/gpu-group ("0,3"), and those of the
// Ascend components ("huawei.com/Ascend910": "Ascend910-0,Ascend910-1", by physical id).
std::optional<Placement> placement_of(const codec::KubePod& pod, const PodRequest& request);

}  // namespace chipweave::sched
