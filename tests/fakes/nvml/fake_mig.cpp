// The functions about the MIG instances of a GPU. Old drivers lack them.
#include "tests/fakes/nvml/scenario.hpp"

#ifndef CHIPWEAVE_FAKE_OLD_DRIVER

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::answer;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::Json;
using chipweave::fake_nvml::number;
using nvml::Device;

// "mig_devices": [{"uuid": …, "name": …, "gi": 1, "ci": 0, "slices": 3, "compute_slices": 3,
// "memory_mib": 40448}, null]; null is a gap, compute_slices is by default as many as slices.
// "mig_most": the maximum, by default the number of entries.
CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMaxMigDeviceCount(Device d, unsigned* most) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetMaxMigDeviceCount", d, device)) return code;
  if (!device->contains("mig")) return nvml::kNotSupported;
  if (!number(*device, "mig_most", most)) {
    *most = static_cast<unsigned>(device->value("mig_devices", Json::array()).size());
  }
  return nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMigDeviceHandleByIndex(Device d, unsigned at,
                                                                       Device* instance) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetMigDeviceHandleByIndex", d, device)) return code;
  *instance = chipweave::fake_nvml::mig_handle_of(chipweave::fake_nvml::place_of(d), at);
  return *instance == nullptr ? nvml::kNotFound : nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetGpuInstanceId(Device d, unsigned* id) {
  return answer("nvmlDeviceGetGpuInstanceId", d, "gi", id);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetComputeInstanceId(Device d, unsigned* id) {
  return answer("nvmlDeviceGetComputeInstanceId", d, "ci", id);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetAttributes_v2(Device d,
                                                              nvml::DeviceAttributes* attributes) {
  const Json* instance = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetAttributes_v2", d, instance)) return code;
  *attributes = {};
  const bool known = number(*instance, "slices", &attributes->gpu_slices) &&
                     number(*instance, "memory_mib", &attributes->memory_mib);
  attributes->compute_slices = instance->value("compute_slices", attributes->gpu_slices);
  return known ? nvml::kSuccess : nvml::kNotSupported;
}

#endif
