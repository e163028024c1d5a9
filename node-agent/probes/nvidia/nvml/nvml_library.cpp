#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxMessageBytes = 200;

// Why the last dl function failed.
std::string load_problem() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

const char* advice(nvml::Code code) {
  if (code == nvml::kLibraryMismatch) {
    return "; the driver was upgraded under its kernel module: reload the module or reboot";
  }
  return code == nvml::kDriverNotLoaded ? "; the kernel module nvidia is not loaded" : "";
}

}  // namespace

std::string nvml_text(const char* bytes, std::size_t size) {
  const char* end = std::find(bytes, bytes + size, '\0');
  std::string out(bytes, end);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

void NvmlLibrary::Unload::operator()(void* handle) const { ::dlclose(handle); }

void NvmlLibrary::Stop::operator()(void* /*started*/) const {
  if (shutdown != nullptr) shutdown();
}

void* NvmlLibrary::symbol(const char* name) const { return ::dlsym(handle_.get(), name); }

template <class F>
bool NvmlLibrary::find(NvmlCall<F>& call, std::initializer_list<const char*> names) {
  call.name = *names.begin();
  for (const char* name : names) {
    void* found = symbol(name);
    if (found == nullptr) continue;
    call = {reinterpret_cast<F*>(found), name};
    return true;
  }
  return false;
}

template <class F>
void NvmlLibrary::resolve(NvmlCall<F>& call, std::initializer_list<const char*> names) {
  if (!find(call, names)) missing_.emplace_back(call.name);
}

// The unversioned functions of PCI facts fill a prefix of PciInfo that ends before bus_id.
void NvmlLibrary::resolve_all() {
  NvmlFunctions& f = functions_;
  resolve(f.driver_version, {"nvmlSystemGetDriverVersion"});
  resolve(f.cuda_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  resolve(f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  resolve(f.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  resolve(f.uuid, {"nvmlDeviceGetUUID"});
  resolve(f.name, {"nvmlDeviceGetName"});
  resolve(f.index, {"nvmlDeviceGetIndex"});
  resolve(f.minor_number, {"nvmlDeviceGetMinorNumber"});
  resolve(f.module_id, {"nvmlDeviceGetModuleId"});
  resolve(f.pci_info,
          {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  resolve(f.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  resolve(f.memory_info, {"nvmlDeviceGetMemoryInfo"});
  resolve(f.memory_affinity, {"nvmlDeviceGetMemoryAffinity"});
  resolve(f.numa_node, {"nvmlDeviceGetNumaNodeId"});
  resolve_state();
  resolve_links();
  resolve_events();
  find_measurements();
  error_string_ = reinterpret_cast<const char* (*)(nvml::Code)>(symbol("nvmlErrorString"));
}

// v535 renamed the clock reasons and kept the numbers (NVML API reference, change log).
void NvmlLibrary::resolve_state() {
  NvmlFunctions& f = functions_;
  resolve(f.mig_mode, {"nvmlDeviceGetMigMode"});
  resolve(f.mig_most, {"nvmlDeviceGetMaxMigDeviceCount"});
  resolve(f.mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  resolve(f.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  resolve(f.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  resolve(f.attributes, {"nvmlDeviceGetAttributes_v2"});
  resolve(f.clock_reasons,
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  resolve(f.ecc_mode, {"nvmlDeviceGetEccMode"});
  resolve(f.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  resolve(f.retired_pending, {"nvmlDeviceGetRetiredPagesPendingStatus"});
  resolve(f.remapped_rows, {"nvmlDeviceGetRemappedRows"});
  resolve(f.field_values, {"nvmlDeviceGetFieldValues"});
  const bool fabric_v1 = find(f.fabric_v1, {"nvmlDeviceGetGpuFabricInfo"});
  if (!find(f.fabric, {"nvmlDeviceGetGpuFabricInfoV"}) && !fabric_v1) {
    missing_.emplace_back(f.fabric.name);
  }
}

void NvmlLibrary::resolve_links() {
  NvmlFunctions& f = functions_;
  resolve(f.common_ancestor, {"nvmlDeviceGetTopologyCommonAncestor"});
  resolve(f.link_state, {"nvmlDeviceGetNvLinkState"});
  resolve(f.link_version, {"nvmlDeviceGetNvLinkVersion"});
  resolve(f.link_capability, {"nvmlDeviceGetNvLinkCapability"});
  resolve(f.link_remote_pci,
          {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"});
  resolve(f.link_remote_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  resolve(f.link_errors, {"nvmlDeviceGetNvLinkErrorCounter"});
}

void NvmlLibrary::resolve_events() {
  NvmlFunctions& f = functions_;
  resolve(f.event_set_create, {"nvmlEventSetCreate"});
  resolve(f.event_set_free, {"nvmlEventSetFree"});
  resolve(f.event_types, {"nvmlDeviceGetSupportedEventTypes"});
  resolve(f.event_register, {"nvmlDeviceRegisterEvents"});
  resolve(f.event_wait, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
}

// CUDA 13 deprecates the first of them in favour of the second (nvml.h).
void NvmlLibrary::find_measurements() {
  NvmlFunctions& f = functions_;
  find(f.temperature, {"nvmlDeviceGetTemperature"});
  find(f.temperature_v1, {"nvmlDeviceGetTemperatureV"});
  find(f.power_usage, {"nvmlDeviceGetPowerUsage"});
  find(f.memory_info_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(f.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(f.clock_info, {"nvmlDeviceGetClockInfo"});
}

nvml::Code NvmlLibrary::start() {
  using Init = nvml::Code();
  NvmlCall<nvml::Code(unsigned)> with_flags;
  with_flags.function = reinterpret_cast<nvml::Code (*)(unsigned)>(symbol("nvmlInitWithFlags"));
  nvml::Code code = with_flags(nvml::kInitNoGpus);
  for (const char* name : {"nvmlInit_v2", "nvmlInit"}) {
    if (code != nvml::kFunctionNotFound) break;
    code = NvmlCall<Init>{reinterpret_cast<Init*>(symbol(name)), name}();
  }
  if (code == nvml::kSuccess) {
    const auto stop = reinterpret_cast<Init*>(symbol("nvmlShutdown"));
    started_ = std::unique_ptr<void, Stop>(handle_.get(), Stop{stop});
  }
  return code;
}

Result<NvmlLibrary> NvmlLibrary::open(const std::string& path) {
  ::dlerror();
  void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string problem = load_problem();
    // A dependency of the library may be missing, too: then the message starts with its name.
    const bool absent = problem.starts_with(path + ": cannot open shared object file: No such");
    return make_error(absent ? Errc::not_found : Errc::unavailable,
                      absent ? "no NVIDIA driver here: " + problem
                             : "the NVIDIA driver's library cannot be loaded: " + problem);
  }
  NvmlLibrary library(handle);
  library.resolve_all();
  const nvml::Code code = library.start();
  if (code != nvml::kSuccess) {
    return make_error(Errc::unavailable, "NVML of " + path + " cannot be initialised: " +
                                             library.text_of(code) + advice(code));
  }
  return library;
}

std::string NvmlLibrary::text_of(nvml::Code code) const {
  const char* text = error_string_ == nullptr ? nullptr : error_string_(code);
  const std::string number = std::to_string(code);
  if (text == nullptr) return "NVML error " + number;
  return nvml_text(text, ::strnlen(text, kMaxMessageBytes)) + " (" + number + ")";
}

}  // namespace chipweave::agent
