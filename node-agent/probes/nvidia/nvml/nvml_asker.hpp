// NvmlAsker — asks the driver about one device and keeps what goes wrong with that device. Part of
// nvml_device_reader.cpp, nvml_link_reader.cpp and nvml_mig_reader.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

class NvmlAsker {
 public:
  // Both must outlive it.
  NvmlAsker(const NvmlLibrary& library, nvml::Device handle, NvmlDevice& out)
      : library_(library), handle_(handle), out_(out) {}

  const NvmlFunctions& functions() const { return library_.functions(); }
  nvml::Device handle() const { return handle_; }

  void note(std::string text);
  // The call `what` answered with a code that is no success.
  void failure(const std::string& what, nvml::Code code);

  // True when the call worked. What this driver lacks is noted once for the machine.
  template <class F, class... A>
  bool ask(const NvmlCall<F>& call, A... arguments) {
    const nvml::Code code = call(handle_, arguments...);
    if (code != nvml::kSuccess && call.function != nullptr) failure(call.name, code);
    return code == nvml::kSuccess;
  }

  // The same of one link, where "invalid" says, too, that there is nothing to know.
  template <class F, class... A>
  bool ask_link(const NvmlCall<F>& call, unsigned link, A... arguments) {
    const nvml::Code code = call(handle_, link, arguments...);
    if (code != nvml::kSuccess && code != nvml::kInvalidArgument && call.function != nullptr) {
      failure(std::string(call.name) + " of link " + std::to_string(link), code);
    }
    return code == nvml::kSuccess;
  }

  // nullopt where this driver or device does not know the field.
  std::optional<std::uint64_t> field(std::uint32_t id, std::uint32_t scope) const;

 private:
  const NvmlLibrary& library_;
  nvml::Device handle_;
  NvmlDevice& out_;
};

// Normalised; "" where neither form of the id is one.
std::string nvml_bus_id(const nvml::PciInfo& info);

}  // namespace chipweave::agent
