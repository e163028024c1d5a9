#include "node-agent/probes/nvidia/snapshot/nvml_device_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_link_reader.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_mig_reader.hpp"

namespace chipweave::agent {
namespace {

constexpr unsigned kAffinityWords = 16;  // 1024 NUMA nodes
constexpr int kWordBits = std::numeric_limits<unsigned long>::digits;

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
      : f_(library.functions()), query_(library, handle, out_) {
    out_.index = index;
  }

  NvmlDevice run() {
    read_identity();
    require_identity();
    if (!out_.lost) read_place();
    if (!out_.lost) read_state();
    if (!out_.lost) read_memory_errors();
    if (!out_.lost) read_fabric();
    if (!out_.lost) read_links(query_, out_);
    return std::move(out_);
  }

  NvmlDevice refused(nvml::Code code) {
    query_.failure(f_.handle_by_index.name, code);
    if (!out_.lost && !out_.notes.empty()) out_.failure = out_.notes.back();
    if (!out_.lost && out_.failure.empty()) out_.failure = "the driver returns no handle";
    return std::move(out_);
  }

 private:
  template <class F, class... A>
  bool call(const NvmlCall<F>& entry, A... arguments) {
    return query_.call(entry, arguments...);
  }
  void note(std::string text) { query_.note(std::move(text)); }

  void read_identity() {
    std::array<char, nvml::kUuidBytes> uuid{};
    if (call(f_.uuid, uuid.data(), nvml::kUuidBytes)) {
      out_.uuid = nvml_text(uuid.data(), uuid.size());
      // Unterminated, or with invalid bytes: the device is identified by its PCI address instead.
      if (out_.uuid.size() == uuid.size() || out_.uuid.find('?') != std::string::npos) {
        out_.uuid.clear();
        note(std::string(f_.uuid.name) + ": no UUID in the answer");
      }
    }
    std::array<char, nvml::kNameBytes> name{};
    if (call(f_.name, name.data(), nvml::kNameBytes))
      out_.name = nvml_text(name.data(), name.size());
    unsigned number = 0;
    if (call(f_.minor_number, &number)) out_.minor = number;
    if (call(f_.module_id, &number)) out_.module = number;
    nvml::PciInfo pci{};
    if (call(f_.pci_info, &pci)) {
      out_.pci = nvml_bus_id(pci);
      if (out_.pci.empty()) note(std::string(f_.pci_info.name) + ": no bus id in the answer");
    }
  }

  // Which GPU it is cannot be known, so what is known of it may belong to another one.
  void require_identity() {
    const bool unknown = out_.uuid.empty() && out_.pci.empty();
    if (out_.lost || !unknown || !out_.failure.empty()) return;
    out_.failure = "neither its UUID nor its PCI address can be read";
  }

  void read_place() {
    std::array<unsigned long, kAffinityWords> nodes{};
    if (call(f_.memory_affinity, kAffinityWords, nodes.data(), nvml::kScopeNumaNode)) {
      out_.numa = only_node(nodes);
      if (!out_.numa) note(std::string(f_.memory_affinity.name) + ": not one NUMA node");
    }
    unsigned own = 0;
    if (call(f_.numa_node, &own)) {
      if (own <= static_cast<unsigned>(limits::kMaxNumaNode)) {
        out_.own_numa = static_cast<int>(own);
      } else {
        note(std::string(f_.numa_node.name) + ": node " + std::to_string(own));
      }
    }
    int major = 0;
    int minor = 0;
    if (call(f_.compute_capability, &major, &minor)) {
      if (major > 0 && major < 100 && minor >= 0 && minor < 10) {
        out_.sm = major * 10 + minor;
      } else {
        note(std::string(f_.compute_capability.name) + ": " + std::to_string(major) + "." +
             std::to_string(minor));
      }
    }
    nvml::Memory memory{};
    if (call(f_.memory_info, &memory)) out_.memory_bytes = memory.total;
  }

  void read_state() {
    unsigned mig = 0;
    unsigned mig_pending = 0;
    if (call(f_.mig_mode, &mig, &mig_pending)) {
      out_.mig = NvmlMig{mig != 0, mig_pending != 0};
      if (mig != 0) read_mig_instances(query_, out_.memory_bytes.value_or(0), *out_.mig);
    }
    std::uint64_t reasons = 0;
    if (call(f_.clock_reasons, &reasons)) out_.clock_reasons = reasons;
    if (const auto action = query_.field(nvml::kFieldRecoveryAction, 0)) {
      out_.recovery_action = static_cast<unsigned>(*action & 0xffffffffU);
    }
  }

  void read_memory_errors() {
    int ecc = 0;
    int ecc_pending = 0;
    if (call(f_.ecc_mode, &ecc, &ecc_pending)) out_.ecc = NvmlEcc{ecc != 0, ecc_pending != 0};
    std::uint64_t errors = 0;
    if (call(f_.ecc_errors, nvml::kEccUncorrected, nvml::kEccVolatile, &errors)) {
      out_.uncorrected_errors = errors;
    }
    if (call(f_.ecc_errors, nvml::kEccCorrected, nvml::kEccVolatile, &errors)) {
      out_.corrected_errors = errors;
    }
    int retired = 0;
    if (call(f_.retired_pending, &retired)) out_.retired_pages_pending = retired != 0;
    NvmlRemappedRows rows;
    unsigned pending = 0;
    unsigned broken = 0;
    if (call(f_.remapped_rows, &rows.correctable, &rows.uncorrectable, &pending, &broken)) {
      rows.pending = pending != 0;
      rows.failure = broken != 0;
      out_.remapped_rows = rows;
    }
  }

  void read_fabric() {
    nvml::Fabric info{};
    info.version = nvml::kFabricV3;
    nvml::Code code = f_.fabric(query_.handle(), &info);
    const bool old = code == nvml::kVersionMismatch;
    if (old) {
      info = {};
      info.version = nvml::kFabricV2;
      code = f_.fabric(query_.handle(), &info);
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
      if (f_.fabric.function != nullptr) query_.failure(f_.fabric.name, code);
    } else if (call(f_.fabric_v1, &first)) {
      out_.fabric =
          NvmlFabric{first.state,  first.status, first.clique, uuid_text(first.cluster_uuid),
                     std::nullopt, std::nullopt};
    }
  }

  const NvmlFunctions& f_;
  NvmlDevice out_;
  NvmlQuery query_;  // fills out_
};

}  // namespace

NvmlDevice read_device(const NvmlLibrary& library, nvml::Device handle, int index) {
  return DeviceReader(library, handle, index).run();
}

NvmlDevice device_without_handle(const NvmlLibrary& library, int index, nvml::Code code) {
  return DeviceReader(library, nullptr, index).refused(code);
}

}  // namespace chipweave::agent
