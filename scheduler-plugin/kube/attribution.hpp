// The chips of a bound pod according to its annotations: chipweave's own, or, without it, those of
// other topology-aware schedulers.
#pragma once

#include <optional>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

// None if no annotation is usable. Annotations of other schedulers do not carry a uid and are
// trusted: ACK's topology.kubernetes.io/gpu-group ("0,3"), and those of the
// Ascend components ("huawei.com/Ascend910": "Ascend910-0,Ascend910-1", by physical id). They are
// ignored for pods that use parts of chips, which other pods may share.
std::optional<Placement> placement_of(const codec::KubePod& pod, const ClusterPod& counted);

}  // namespace chipweave::sched
