#include "node-agent/probes/nvidia/snapshot/nvml_link_reader.hpp"

#include <utility>

namespace chipweave::agent {
namespace {

NvmlRemote remote_of(int type) {
  switch (type) {
    case nvml::kRemoteGpu:
      return NvmlRemote::gpu;
    case nvml::kRemoteNpu:
      return NvmlRemote::npu;
    case nvml::kRemoteSwitch:
      return NvmlRemote::nvswitch;
    default:
      return NvmlRemote::unknown;
  }
}

class LinkReader {
 public:
  LinkReader(NvmlQuery& query, NvmlDevice& device)
      : query_(query), f_(query.functions()), device_(device) {
    by_field_ = device.sm.value_or(0) >= 90;
  }

  // False if there can be no further links.
  bool read(unsigned number) {
    const auto active = active_of(number);
    if (!active) return f_.link_state.function != nullptr || f_.field_values.function != nullptr;
    NvmlLink link;
    link.number = number;
    link.active = *active;
    unsigned value = 0;
    if (query_.call_link(f_.link_capability, number, nvml::kCapabilityP2p, &value)) {
      link.p2p = value != 0;
    }
    if (query_.call_link(f_.link_version, number, &value)) link.version = value;
    int type = -1;
    if (query_.call_link(f_.link_remote_type, number, &type)) link.remote = remote_of(type);
    nvml::PciInfo pci{};
    if (query_.call_link(f_.link_remote_pci, number, &pci)) link.remote_pci = nvml_bus_id(pci);
    link.replays = errors(number, nvml::kFieldLinkReplay, nvml::kLinkReplay);
    link.recoveries = errors(number, nvml::kFieldLinkRecovery, nvml::kLinkRecovery);
    if (!link.recoveries) link.recoveries = counted(number, nvml::kFieldLinkRecoveryEvents);
    link.crc_errors = errors(number, nvml::kFieldLinkCrc, nvml::kLinkCrcFlit);
    device_.links.push_back(std::move(link));
    return true;
  }

 private:
  // nullopt: no such link. From sm_90 on, the field reports it.
  std::optional<bool> active_of(unsigned number) {
    if (by_field_) {
      if (const auto state = query_.field(nvml::kFieldLinkState, number); state && *state <= 2) {
        return *state != 0;
      }
    }
    int state = 0;
    if (f_.link_state.function == nullptr) return std::nullopt;
    const nvml::Code code = f_.link_state(query_.handle(), number, &state);
    if (code == nvml::kSuccess && (state == 0 || state == 1)) return state == 1;
    if (code == nvml::kSuccess) {
      query_.note("link " + std::to_string(number) + ": unknown state " + std::to_string(state));
    }
    if (code == nvml::kSuccess || query_.link_failure(f_.link_state.name, number, code)) {
      device_.unread_links.push_back(number);
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> counted(unsigned number, std::uint32_t field) {
    return by_field_ ? query_.field(field, number) : std::nullopt;
  }

  // On Hopper, fields replace the older counters (NVML API reference, change log of v520 to v525).
  std::optional<std::uint64_t> errors(unsigned number, std::uint32_t field, int counter) {
    if (const auto value = counted(number, field)) return value;
    std::uint64_t value = 0;
    if (!query_.call_link(f_.link_errors, number, counter, &value)) return std::nullopt;
    return value;
  }

  NvmlQuery& query_;
  const NvmlFunctions& f_;
  NvmlDevice& device_;
  bool by_field_ = false;
};

}  // namespace

void read_links(NvmlQuery& query, NvmlDevice& device) {
  LinkReader reader(query, device);
  for (unsigned link = 0; link < nvml::kMaxLinks && !device.lost; ++link) {
    if (!reader.read(link)) break;
  }
}

}  // namespace chipweave::agent
