// The chips of a bound pod according to its annotations: chipweave's own, or, without it, those of
// other topology-aware schedulers.
#pragma once

#include <optional>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

// None if no annotation is usable or it cannot be this pod's. Annotations of other schedulers do
// not carry a uid and are trusted: ACK's topology.kubernetes.io/gpu-group ("0,3"), and those of the
// Ascend components ("huawei.com/Ascend910": "Ascend910-0,Ascend910-1", by physical id). They are
// ignored for pods that use parts of chips, which other pods may share.
std::optional<Placement> placement_of(const codec::KubePod& pod, const ClusterPod& counted);

// Whether chipweave's annotation is not this pod's, or not in any form that chipweave has written.
bool is_foreign(const std::string& placement, const ClusterPod& pod);

}  // namespace chipweave::sched
