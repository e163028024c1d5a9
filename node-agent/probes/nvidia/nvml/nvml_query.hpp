// NvmlQuery — calls NVML about one device and records in it which calls failed. Used by the readers
// of ../snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

class NvmlQuery {
 public:
  // Both must outlive it.
  NvmlQuery(const NvmlLibrary& library, nvml::Device handle, NvmlDevice& out)
      : library_(library), handle_(handle), out_(out) {}

  const NvmlFunctions& functions() const { return library_.functions(); }
  nvml::Device handle() const { return handle_; }

  void note(std::string text);
  // Records that the call `what` returned an error code.
  void failure(const std::string& what, nvml::Code code);

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
    if (code != nvml::kSuccess && code != nvml::kInvalidArgument && entry.function != nullptr) {
      failure(std::string(entry.name) + " of link " + std::to_string(link), code);
    }
    return code == nvml::kSuccess;
  }

  // nullopt if this driver or device does not know the field.
  std::optional<std::uint64_t> field(std::uint32_t id, std::uint32_t scope) const;

 private:
  const NvmlLibrary& library_;
  nvml::Device handle_;
  NvmlDevice& out_;
};

// Normalised; "" if neither form of the id is valid.
std::string nvml_bus_id(const nvml::PciInfo& info);

}  // namespace chipweave::agent
