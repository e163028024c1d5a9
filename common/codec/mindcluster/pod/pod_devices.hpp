// The devices of a pod as MindCluster's device plugin, its scheduler and ours write them:
// annotation ascend.kubectl.kubernetes.io/ascend-910-configuration, of an Ascend 950
// ascend-npu-configuration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/domain/ranktable/assembly/member.hpp"

namespace chipweave::codec::mindcluster {

struct PodDevices {
  std::string super_pod;  // physical; empty: none
  // By physical id. An address that the device plugin could not find out ("-1") is empty.
  std::vector<domain::ranktable::MemberDevice> devices;
};

// Of the annotation's text, at most 256 KiB. Errors: no JSON, or not of this form, naming the
// field; a device twice.
Result<PodDevices> read_pod_devices(std::string_view json);

// Of the annotations of a pod. nullopt: it has none of them. Errors: those of read_pod_devices(),
// naming the annotation; conflict: the device plugin has mounted others
// (huawei.com/AscendReal).
Result<std::optional<PodDevices>> devices_of_pod(const StringMap& annotations);

}  // namespace chipweave::codec::mindcluster
