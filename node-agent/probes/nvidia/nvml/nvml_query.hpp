// NvmlQuery — calls NVML about one device and records in it which calls failed, and what that says
// about the device. Used by the readers of ../snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

// What a failed call says about the device.
enum class NvmlFailure {
  nothing,         // the device does not support it
  note,            // one fact is unknown; the device works as far as this call shows
  failed,          // the device cannot be used
  reset_required,  // the driver says that it must be reset
  lost,            // it has fallen off the bus
};
NvmlFailure meaning_of(std::string_view call, nvml::Code code);

class NvmlQuery {
 public:
  // Both must outlive it.
  NvmlQuery(const NvmlLibrary& library, nvml::Device handle, NvmlDevice& out)
      : library_(library), handle_(handle), out_(out) {}

  const NvmlFunctions& functions() const { return library_.functions(); }
  nvml::Device handle() const { return handle_; }

  void note(std::string text);
  // Records that a call returned an error code. of: what it was about, if not the device as a
  // whole.
  void failure(const std::string& call, nvml::Code code, const std::string& of = "");

  // True if the call worked. A function that the driver lacks is noted once for the whole machine,
  // not here.
  template <class F, class... A>
  bool call(const NvmlCall<F>& entry, A... arguments) {
    const nvml::Code code = entry(handle_, arguments...);
    if (code != nvml::kSuccess && entry.function != nullptr) failure(entry.name, code);
    return code == nvml::kSuccess;
  }

  // The same for one link; there NVML returns "invalid argument" for a link that does not exist.
  template <class F, class... A>
  bool call_link(const NvmlCall<F>& entry, unsigned link, A... arguments) {
    const nvml::Code code = entry(handle_, link, arguments...);
    if (code != nvml::kSuccess && entry.function != nullptr) link_failure(entry.name, link, code);
    return code == nvml::kSuccess;
  }
  // False if the code says only that there is no such link.
  bool link_failure(const char* name, unsigned link, nvml::Code code);

  // nullopt if this driver or device does not know the field, or the call fails.
  std::optional<std::uint64_t> field(std::uint32_t id, std::uint32_t scope);

 private:
  const NvmlLibrary& library_;
  nvml::Device handle_;
  NvmlDevice& out_;
};

// Normalised; "" if neither form of the id is valid.
std::string nvml_bus_id(const nvml::PciInfo& info);

}  // namespace chipweave::agent
