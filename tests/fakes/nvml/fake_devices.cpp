// The functions about one device: its identity and state.
#include <cstring>

#include "tests/fakes/nvml/scenario.hpp"

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::answer;
using chipweave::fake_nvml::copy_text;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::Json;
using chipweave::fake_nvml::number;
using nvml::Device;

namespace {

nvml::Code answer_text(const char* function, Device handle, const char* key, char* text,
                       unsigned size) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter(function, handle, device)) return code;
  if (!device->contains(key)) return nvml::kNotSupported;
  copy_text((*device)[key], text, size);
  return nvml::kSuccess;
}

// Numbers of a list, in order.
template <class T, class... P>
nvml::Code answer_list(const char* function, Device handle, const char* key, T* first, P*... rest) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter(function, handle, device)) return code;
  if (!device->contains(key)) return nvml::kNotSupported;
  const Json& list = (*device)[key];
  std::size_t at = 0;
  for (T* to : {first, rest...}) *to = list.at(at++).template get<T>();
  return nvml::kSuccess;
}

nvml::Code answer_pci(const char* function, Device handle, nvml::PciInfo* info) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter(function, handle, device)) return code;
  if (!device->contains("bus")) return nvml::kNotSupported;
  chipweave::fake_nvml::fill_pci((*device)["bus"], info);
  return nvml::kSuccess;
}

}  // namespace

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetUUID(Device d, char* text, unsigned size) {
  return answer_text("nvmlDeviceGetUUID", d, "uuid", text, size);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetName(Device d, char* text, unsigned size) {
  return answer_text("nvmlDeviceGetName", d, "name", text, size);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMinorNumber(Device d, unsigned* minor) {
  return answer("nvmlDeviceGetMinorNumber", d, "minor", minor);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetIndex(Device d, unsigned* index) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetIndex", d, device)) return code;
  *index = static_cast<unsigned>(chipweave::fake_nvml::place_of(d));
  return nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetCudaComputeCapability(Device d, int* major,
                                                                      int* minor) {
  return answer_list("nvmlDeviceGetCudaComputeCapability", d, "sm", major, minor);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMemoryInfo(Device d, nvml::Memory* memory) {
  const nvml::Code code = answer("nvmlDeviceGetMemoryInfo", d, "memory", &memory->total);
  const Json* device = nullptr;
  if (code == nvml::kSuccess && enter("nvmlDeviceGetMemoryInfo", d, device) == nvml::kSuccess) {
    number(*device, "memory_used", &memory->used);
  }
  return code;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetEccMode(Device d, int* now, int* pending) {
  return answer_list("nvmlDeviceGetEccMode", d, "ecc", now, pending);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetTotalEccErrors(Device d, int type, int counter,
                                                               std::uint64_t* errors) {
  if (counter != nvml::kEccVolatile) return nvml::kNotSupported;
  const char* key = type == nvml::kEccUncorrected ? "uncorrected_errors" : "corrected_errors";
  return answer("nvmlDeviceGetTotalEccErrors", d, key, errors);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetRetiredPagesPendingStatus(Device d, int* pending) {
  return answer("nvmlDeviceGetRetiredPagesPendingStatus", d, "retired_pending", pending);
}

#ifdef CHIPWEAVE_FAKE_OLD_DRIVER

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetPciInfo_v2(Device d, nvml::PciInfo* info) {
  return answer_pci("nvmlDeviceGetPciInfo_v2", d, info);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetCurrentClocksThrottleReasons(
    Device d, std::uint64_t* reasons) {
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", d, "clock_reasons", reasons);
}

#else

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetPciInfo_v3(Device d, nvml::PciInfo* info) {
  return answer_pci("nvmlDeviceGetPciInfo_v3", d, info);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetCurrentClocksEventReasons(Device d,
                                                                          std::uint64_t* reasons) {
  return answer("nvmlDeviceGetCurrentClocksEventReasons", d, "clock_reasons", reasons);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetModuleId(Device d, unsigned* module) {
  return answer("nvmlDeviceGetModuleId", d, "module", module);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMemoryAffinity(Device d, unsigned words,
                                                               unsigned long* mask, unsigned) {
  std::uint64_t nodes = 0;
  const nvml::Code code = answer("nvmlDeviceGetMemoryAffinity", d, "numa_mask", &nodes);
  if (code == nvml::kSuccess && words > 0) mask[0] = nodes;
  return code;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNumaNodeId(Device d, unsigned* node) {
  return answer("nvmlDeviceGetNumaNodeId", d, "own_numa", node);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMigMode(Device d, unsigned* now,
                                                        unsigned* pending) {
  return answer_list("nvmlDeviceGetMigMode", d, "mig", now, pending);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetRemappedRows(Device d, unsigned* corrected,
                                                             unsigned* uncorrected,
                                                             unsigned* pending, unsigned* failed) {
  return answer_list("nvmlDeviceGetRemappedRows", d, "remapped", corrected, uncorrected, pending,
                     failed);
}

// "fabric": {"version": 2, "state": 3, "status": 0, "clique": 1, "cluster": 7, "health": 1}; newer
// structs than "version" are refused.
CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetGpuFabricInfoV(Device d, nvml::Fabric* info) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetGpuFabricInfoV", d, device)) return code;
  if (!device->contains("fabric")) return nvml::kNotSupported;
  const Json& fabric = (*device)["fabric"];
  const bool newest = info->version == nvml::kFabricV3;
  if (newest && fabric.value("version", 3) < 3) return nvml::kVersionMismatch;
  std::memset(info->cluster_uuid, fabric.value("cluster", 0), sizeof info->cluster_uuid);
  info->status = fabric.value("status", 0);
  info->clique = fabric.value("clique", 0U);
  info->state = fabric.value("state", std::uint8_t{0});
  info->health_mask = fabric.value("mask", 0U);
  if (newest) info->health_summary = fabric.value("health", std::uint8_t{0});
  return nvml::kSuccess;
}

#endif
