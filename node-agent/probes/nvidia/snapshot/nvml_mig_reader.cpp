#include "node-agent/probes/nvidia/snapshot/nvml_mig_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chipweave::agent {
namespace {

NvmlMigInstance read_instance(const NvmlFunctions& f, nvml::Device handle) {
  NvmlMigInstance out;
  std::array<char, nvml::kUuidBytes> uuid{};
  if (f.uuid(handle, uuid.data(), nvml::kUuidBytes) == nvml::kSuccess) {
    out.uuid = nvml_text(uuid.data(), uuid.size());
  }
  unsigned id = 0;
  if (f.gpu_instance(handle, &id) == nvml::kSuccess) out.gpu_instance = id;
  if (f.compute_instance(handle, &id) == nvml::kSuccess) out.compute_instance = id;
  nvml::DeviceAttributes attributes{};
  if (f.attributes(handle, &attributes) == nvml::kSuccess) {
    out.gpu_slices = attributes.gpu_slices;
    out.memory_mib = attributes.memory_mib;
  }
  return out;
}

}  // namespace

std::vector<NvmlMigInstance> read_mig_instances(NvmlQuery& query) {
  std::vector<NvmlMigInstance> out;
  unsigned most = 0;
  const NvmlFunctions& f = query.functions();
  if (!query.call(f.mig_most, &most)) return out;
  for (unsigned i = 0; i < std::min(most, kMaxMigInstances); ++i) {
    nvml::Device handle = nullptr;
    const nvml::Code code = f.mig_handle(query.handle(), i, &handle);
    // A number without an instance is a gap, not the end.
    if (code == nvml::kNotFound || f.mig_handle.function == nullptr) continue;
    if (code != nvml::kSuccess) {
      query.failure(f.mig_handle.name, code);
    } else if (handle != nullptr) {
      out.push_back(read_instance(f, handle));
    }
  }
  return out;
}

}  // namespace chipweave::agent
