// The parts of a Pod object that JobPods needs. Internal to common/codec/ranktable/modelarts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"

namespace chipweave::codec {

// "" if there is none.
std::string annotation_of(JsonValue object, std::string_view key);

struct JobPodIdentity {
  std::string ns;
  std::string job;   // "": not in a Volcano job
  std::string task;  // without a label, the part of its name between job and index
};
JobPodIdentity identity_of(const NetworkObject& pod);

// Whether it requests an NPU or has an annotation about its devices.
bool uses_npu(JsonValue pod);

// Errors: an invalid name, no index, a report that cannot be read.
Result<JobPod> read_pod_fields(const NetworkObject& pod);

}  // namespace chipweave::codec
