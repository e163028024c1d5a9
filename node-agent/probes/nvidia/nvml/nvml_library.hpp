// NvmlLibrary — the driver's libnvidia-ml.so.1, loaded and initialised; shut down and unloaded with
// the object.
//
// Each function is looked up separately, newest version first. One that the driver lacks returns
// kFunctionNotFound, so that an old driver costs one fact and not the probe. Calls may block or
// crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"

namespace chipweave::agent {

// One function of the library. name: of the version that was found.
template <class F>
struct NvmlCall {
  F* function = nullptr;
  const char* name = "";

  template <class... A>
  nvml::Code operator()(A... arguments) const {
    return function == nullptr ? nvml::kFunctionNotFound : function(arguments...);
  }
};

struct NvmlFunctions {
  template <class F>
  using Call = NvmlCall<F>;
  using U = nvml::U;

  Call<nvml::Code(char*, U)> driver_version;
  Call<nvml::Code(int*)> cuda_version;
  Call<nvml::Code(U*)> count;
  Call<nvml::Code(U, nvml::Device*)> handle_by_index;
  Call<nvml::GetText> uuid;
  Call<nvml::GetText> name;
  Call<nvml::GetNumber> index;
  Call<nvml::GetNumber> minor_number;
  Call<nvml::GetNumber> module_id;
  Call<nvml::Code(nvml::Device, nvml::PciInfo*)> pci_info;
  Call<nvml::GetTwoInts> compute_capability;
  Call<nvml::Code(nvml::Device, nvml::Memory*)> memory_info;
  Call<nvml::Code(nvml::Device, U, unsigned long*, U)> memory_affinity;
  Call<nvml::GetNumber> numa_node;
  Call<nvml::Code(nvml::Device, std::uint64_t*)> clock_reasons;
  // For measurements; a driver that lacks one of these lacks a value, which is not reported.
  Call<nvml::Code(nvml::Device, int, U*)> temperature;
  Call<nvml::Code(nvml::Device, nvml::Temperature*)> temperature_v1;
  Call<nvml::GetNumber> power_usage;  // milliwatts
  Call<nvml::Code(nvml::Device, nvml::MemoryV2*)> memory_info_v2;
  Call<nvml::Code(nvml::Device, nvml::Utilization*)> utilization;
  Call<nvml::Code(nvml::Device, int, U*)> clock_info;  // MHz
  Call<nvml::GetTwoNumbers> mig_mode;
  Call<nvml::GetNumber> mig_most;
  Call<nvml::Code(nvml::Device, U, nvml::Device*)> mig_handle;
  Call<nvml::GetNumber> gpu_instance;
  Call<nvml::GetNumber> compute_instance;
  Call<nvml::Code(nvml::Device, nvml::DeviceAttributes*)> attributes;
  Call<nvml::GetTwoInts> ecc_mode;
  Call<nvml::Code(nvml::Device, int, int, std::uint64_t*)> ecc_errors;
  Call<nvml::GetInt> retired_pending;
  Call<nvml::Code(nvml::Device, U*, U*, U*, U*)> remapped_rows;
  Call<nvml::Code(nvml::Device, nvml::Device, int*)> common_ancestor;
  Call<nvml::Code(nvml::Device, U, int*)> link_state;
  Call<nvml::Code(nvml::Device, U, U*)> link_version;
  Call<nvml::Code(nvml::Device, U, int, U*)> link_capability;
  Call<nvml::Code(nvml::Device, U, nvml::PciInfo*)> link_remote_pci;
  Call<nvml::Code(nvml::Device, U, int*)> link_remote_type;
  Call<nvml::Code(nvml::Device, U, int, std::uint64_t*)> link_errors;
  Call<nvml::Code(nvml::Device, int, nvml::FieldValue*)> field_values;
  Call<nvml::Code(nvml::Device, nvml::Fabric*)> fabric;
  Call<nvml::Code(nvml::Device, nvml::FabricV1*)> fabric_v1;
  Call<nvml::Code(nvml::EventSet*)> event_set_create;
  Call<nvml::Code(nvml::EventSet)> event_set_free;
  Call<nvml::Code(nvml::Device, std::uint64_t*)> event_types;
  Call<nvml::Code(nvml::Device, std::uint64_t, nvml::EventSet)> event_register;
  Call<nvml::Code(nvml::EventSet, nvml::EventData*, U)> event_wait;
};

class NvmlLibrary {
 public:
  static constexpr const char* kName = "libnvidia-ml.so.1";

  // not_found: no driver is installed here, an ordinary state. unavailable: the library cannot be
  // loaded or initialised.
  static Result<NvmlLibrary> open(const std::string& path = kName);

  NvmlLibrary(NvmlLibrary&&) = default;
  NvmlLibrary& operator=(NvmlLibrary&&) = delete;  // would unload before shutting down
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary() = default;

  const NvmlFunctions& functions() const { return functions_; }
  // Functions that this driver lacks in every version, by their newest names.
  const std::vector<std::string>& missing() const { return missing_; }
  // The library's text for a code: "GPU is lost (15)".
  std::string text_of(nvml::Code code) const;

 private:
  struct Unload {
    void operator()(void* handle) const;
  };
  struct Stop {
    nvml::Code (*shutdown)();
    void operator()(void* started) const;
  };
  explicit NvmlLibrary(void* handle) : handle_(handle) {}
  void* symbol(const char* name) const;
  // False if the driver has none of the names.
  template <class F>
  bool find(NvmlCall<F>& call, std::initializer_list<const char*> names);
  template <class F>
  void resolve(NvmlCall<F>& call, std::initializer_list<const char*> names);
  void resolve_all();
  void resolve_state();
  void resolve_links();
  void find_measurements();
  void resolve_events();
  nvml::Code start();

  std::unique_ptr<void, Unload> handle_;
  std::unique_ptr<void, Stop> started_;  // the handle again; destroyed first
  NvmlFunctions functions_;
  const char* (*error_string_)(nvml::Code) = nullptr;
  std::vector<std::string> missing_;
};

// Text in a fixed-size buffer: up to its first zero byte or its end, printable ASCII only.
std::string nvml_text(const char* bytes, std::size_t size);

}  // namespace chipweave::agent
