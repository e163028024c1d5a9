#include "node-agent/probes/nvidia/nvml_device_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/topology/pci.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxNotes = 64;
constexpr unsigned kAffinityWords = 16;  // 1024 NUMA nodes
constexpr int kWordBits = std::numeric_limits<unsigned long>::digits;

bool is_bus_id(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos &&
         std::count(text.begin(), text.end(), ':') == 2 &&
         std::count(text.begin(), text.end(), '.') == 1;
}

// Older functions leave the long form empty.
std::string bus_id_of(const nvml::PciInfo& info) {
  for (const std::string& text : {nvml_text(info.bus_id, sizeof info.bus_id),
                                  nvml_text(info.bus_id_legacy, sizeof info.bus_id_legacy)}) {
    if (is_bus_id(text)) return codec::normalize_bus_id(text);
  }
  return "";
}

// 8-4-4-4-12 hexadecimal digits; "" for zeros.
std::string uuid_text(const unsigned char (&bytes)[16]) {
  if (std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char b) { return b == 0; })) {
    return "";
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHex[bytes[i] / 16U];
    out += kHex[bytes[i] % 16U];
  }
  return out;
}

// The only node of the mask; nullopt for none or several.
std::optional<int> only_node(const std::array<unsigned long, kAffinityWords>& mask) {
  std::optional<int> found;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    if (found || !std::has_single_bit(mask[i])) return std::nullopt;
    found = static_cast<int>(i) * kWordBits + std::countr_zero(mask[i]);
  }
  return found;
}

class DeviceReader {
 public:
  DeviceReader(const NvmlLibrary& library, nvml::Device handle, int index)
      : library_(library), f_(library.functions()), handle_(handle) {
    out_.index = index;
  }

  NvmlDevice run() {
    read_identity();
    if (!out_.lost) read_place();
    if (!out_.lost) read_state();
    if (!out_.lost) read_fabric();
    for (unsigned link = 0; link < nvml::kMaxLinks && !out_.lost; ++link) {
      if (!read_link(link)) break;
    }
    return std::move(out_);
  }

  NvmlDevice refused(nvml::Code code) {
    failure(f_.handle_by_index.name, code);
    if (!out_.lost) out_.failure = out_.notes.back();
    return std::move(out_);
  }

 private:
  void note(std::string text) {
    if (out_.notes.size() < kMaxNotes) out_.notes.push_back(std::move(text));
  }

  void failure(const std::string& what, nvml::Code code) {
    out_.lost = out_.lost || code == nvml::kGpuIsLost;
    const std::string text = what + ": " + library_.text_of(code);
    const bool serious = code == nvml::kResetRequired || code == nvml::kUnknown;
    if (serious && out_.failure.empty()) out_.failure = text;
    note(text);
  }

  // True when the call worked. What this driver lacks is noted once for the machine.
  template <class F, class... A>
  bool ask(const NvmlCall<F>& call, A... arguments) {
    const nvml::Code code = call(handle_, arguments...);
    if (code != nvml::kSuccess && call.function != nullptr) failure(call.name, code);
    return code == nvml::kSuccess;
  }

  // The same of one link, where "not supported" and "invalid" say that there is nothing to know.
  template <class F, class... A>
  bool ask_link(const NvmlCall<F>& call, unsigned link, A... arguments) {
    const nvml::Code code = call(handle_, link, arguments...);
    const bool nothing = code == nvml::kNotSupported || code == nvml::kInvalidArgument;
    if (code != nvml::kSuccess && call.function != nullptr && !nothing) {
      failure(std::string(call.name) + " of link " + std::to_string(link), code);
    }
    return code == nvml::kSuccess;
  }

  void read_identity() {
    std::array<char, nvml::kUuidBytes> uuid{};
    if (ask(f_.uuid, uuid.data(), nvml::kUuidBytes))
      out_.uuid = nvml_text(uuid.data(), uuid.size());
    std::array<char, nvml::kNameBytes> name{};
    if (ask(f_.name, name.data(), nvml::kNameBytes))
      out_.name = nvml_text(name.data(), name.size());
    unsigned minor = 0;
    if (ask(f_.minor_number, &minor)) out_.minor = minor;
    nvml::PciInfo pci{};
    if (ask(f_.pci_info, &pci)) {
      out_.pci = bus_id_of(pci);
      if (out_.pci.empty()) note(std::string(f_.pci_info.name) + ": no bus id in the answer");
    }
  }

  void read_place() {
    std::array<unsigned long, kAffinityWords> nodes{};
    if (ask(f_.memory_affinity, kAffinityWords, nodes.data(), nvml::kScopeNumaNode)) {
      out_.numa = only_node(nodes);
      if (!out_.numa) note(std::string(f_.memory_affinity.name) + ": not one NUMA node");
    }
    unsigned own = 0;
    if (ask(f_.numa_node, &own)) {
      if (own <= static_cast<unsigned>(limits::kMaxNumaNode)) {
        out_.own_numa = static_cast<int>(own);
      } else {
        note(std::string(f_.numa_node.name) + ": node " + std::to_string(own));
      }
    }
    int major = 0;
    int minor = 0;
    if (ask(f_.compute_capability, &major, &minor)) {
      if (major > 0 && major < 100 && minor >= 0 && minor < 10) {
        out_.sm = major * 10 + minor;
      } else {
        note(std::string(f_.compute_capability.name) + ": " + std::to_string(major) + "." +
             std::to_string(minor));
      }
    }
    nvml::Memory memory{};
    if (ask(f_.memory_info, &memory)) out_.memory_bytes = memory.total;
  }

  void read_state() {
    unsigned mig = 0;
    unsigned mig_pending = 0;
    if (ask(f_.mig_mode, &mig, &mig_pending)) out_.mig = NvmlMig{mig != 0, mig_pending != 0};
    int ecc = 0;
    int ecc_pending = 0;
    if (ask(f_.ecc_mode, &ecc, &ecc_pending)) out_.ecc = NvmlEcc{ecc != 0, ecc_pending != 0};
    std::uint64_t errors = 0;
    if (ask(f_.ecc_errors, nvml::kEccUncorrected, nvml::kEccVolatile, &errors)) {
      out_.uncorrected_errors = errors;
    }
    int retired = 0;
    if (ask(f_.retired_pending, &retired)) out_.retired_pages_pending = retired != 0;
    NvmlRemappedRows rows;
    unsigned pending = 0;
    unsigned broken = 0;
    if (ask(f_.remapped_rows, &rows.correctable, &rows.uncorrectable, &pending, &broken)) {
      rows.pending = pending != 0;
      rows.failure = broken != 0;
      out_.remapped_rows = rows;
    }
    out_.recovery_action = field(nvml::kFieldRecoveryAction, 0);
  }

  // nullopt where this driver or device does not know the field.
  std::optional<unsigned> field(std::uint32_t id, std::uint32_t scope) const {
    nvml::FieldValue value{};
    value.field = id;
    value.scope = scope;
    value.result = nvml::kNotSupported;
    if (f_.field_values(handle_, 1, &value) != nvml::kSuccess) return std::nullopt;
    if (value.result != nvml::kSuccess) return std::nullopt;
    return static_cast<unsigned>(value.value & 0xffffffffU);
  }

  void read_fabric() {
    nvml::Fabric info{};
    info.version = nvml::kFabricV3;
    nvml::Code code = f_.fabric(handle_, &info);
    const bool old = code == nvml::kVersionMismatch;
    if (old) {
      info = {};
      info.version = nvml::kFabricV2;
      code = f_.fabric(handle_, &info);
    }
    if (code == nvml::kSuccess) {
      out_.fabric =
          NvmlFabric{info.state,       info.status, info.clique, uuid_text(info.cluster_uuid),
                     info.health_mask, std::nullopt};
      if (!old) out_.fabric->health_summary = info.health_summary;
      return;
    }
    nvml::FabricV1 first{};
    if (f_.fabric_v1.function == nullptr) {
      if (f_.fabric.function != nullptr) failure(f_.fabric.name, code);
    } else if (ask(f_.fabric_v1, &first)) {
      out_.fabric =
          NvmlFabric{first.state,  first.status, first.clique, uuid_text(first.cluster_uuid),
                     std::nullopt, std::nullopt};
    }
  }

  // False when there can be no further links.
  bool read_link(unsigned number) {
    const auto active = link_active(number);
    if (!active) return f_.link_state.function != nullptr || f_.field_values.function != nullptr;
    NvmlLink link;
    link.number = number;
    link.active = *active;
    unsigned value = 0;
    if (ask_link(f_.link_capability, number, nvml::kCapabilityP2p, &value)) link.p2p = value != 0;
    if (ask_link(f_.link_version, number, &value)) link.version = value;
    int type = -1;
    if (ask_link(f_.link_remote_type, number, &type)) link.remote = remote_of(type);
    nvml::PciInfo pci{};
    if (ask_link(f_.link_remote_pci, number, &pci)) link.remote_pci = bus_id_of(pci);
    out_.links.push_back(std::move(link));
    return true;
  }

  // nullopt: no such link. From sm_90 on the field says it.
  std::optional<bool> link_active(unsigned number) {
    if (out_.sm.value_or(0) >= 90) {
      if (const auto state = field(nvml::kFieldLinkState, number); state && *state <= 2) {
        return *state != 0;
      }
    }
    int state = 0;
    if (!ask_link(f_.link_state, number, &state)) return std::nullopt;
    if (state == 0 || state == 1) return state == 1;
    note("link " + std::to_string(number) + ": unknown state " + std::to_string(state));
    return std::nullopt;
  }

  static NvmlRemote remote_of(int type) {
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

  const NvmlLibrary& library_;
  const NvmlFunctions& f_;
  nvml::Device handle_;
  NvmlDevice out_;
};

}  // namespace

NvmlDevice read_device(const NvmlLibrary& library, nvml::Device handle, int index) {
  return DeviceReader(library, handle, index).run();
}

NvmlDevice device_without_handle(const NvmlLibrary& library, int index, nvml::Code code) {
  return DeviceReader(library, nullptr, index).refused(code);
}

}  // namespace chipweave::agent
