// Which pods have the devices that the kubelet lists: PodResources names pods, the kubelet's
// checkpoints have their uids. Pure.
#pragma once

#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"
#include "common/codec/kube/kubelet/kubelet_claims.hpp"
#include "node-agent/kubelet/allocated_device.hpp"

namespace chipweave::agent {

// The devices of `listed` with the uid of their pod, where the checkpoint has the same device for
// one container of that name. Devices of the checkpoint whose pod is not listed (yet, or any more)
// follow without names.
AllocatedDevices with_uids(AllocatedDevices listed, const codec::CheckpointedDevices& checkpoint);
// Likewise for devices of claims, of which the checkpoint is never older than what is listed: those
// that it does not have are gone.
AllocatedDevices with_claims(AllocatedDevices listed, const codec::KubeletClaimDevices& checkpoint);

}  // namespace chipweave::agent
