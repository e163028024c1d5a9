#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/codec/topology/hardware/pci.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxNotes = 64;

// Without these a GPU cannot be used. The driver returns no handle of a GPU that it could not
// start, and a GPU whose memory it cannot ask for runs no program. All other calls are
// informational:
//   identity     UUID, PCI address: one is enough; a GPU without either is failed (device reader)
//   description  name, minor number, module id, NUMA node and affinity, compute capability
//   state        MIG, ECC, remapped rows, pages to retire, fabric, clocks, recovery action
//   links        state, version, capability, remote device, error counters
// They fail for reasons that are not the GPU's: a container's rights, a driver that is busy, a
// function that a virtual machine does not have. NvmlMemory fills in their last answers, so that a
// query which fails neither takes a GPU out of service nor ends what was wrong with it.
constexpr std::array<std::string_view, 3> kEssential = {
    "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetMemoryInfo"};

bool is_bus_id(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos &&
         std::count(text.begin(), text.end(), ':') == 2 &&
         std::count(text.begin(), text.end(), '.') == 1;
}

}  // namespace

// Lost and reset required are statements about the GPU itself, whichever call returns them. Other
// codes count for essential calls only, and there those that mean that the GPU or its driver did
// not work, rather than that this caller may not or cannot ask.
NvmlFailure meaning_of(std::string_view call, nvml::Code code) {
  if (code == nvml::kNotSupported) return NvmlFailure::nothing;
  if (code == nvml::kGpuIsLost) return NvmlFailure::lost;
  if (code == nvml::kResetRequired) return NvmlFailure::reset_required;
  const bool essential = std::find(kEssential.begin(), kEssential.end(), call) != kEssential.end();
  const bool broken = code == nvml::kUnknown || code == nvml::kTimeout;
  return essential && broken ? NvmlFailure::failed : NvmlFailure::note;
}

void NvmlQuery::note(std::string text) {
  const bool known = std::find(out_.notes.begin(), out_.notes.end(), text) != out_.notes.end();
  if (!known && out_.notes.size() < kMaxNotes) out_.notes.push_back(std::move(text));
}

void NvmlQuery::failure(const std::string& call, nvml::Code code, const std::string& of) {
  const NvmlFailure meaning = meaning_of(call, code);
  if (meaning == NvmlFailure::nothing) return;
  const std::string text = call + of + ": " + library_.text_of(code);
  const bool reset_required = meaning == NvmlFailure::reset_required;
  const bool failed = reset_required || meaning == NvmlFailure::failed;
  out_.lost = out_.lost || meaning == NvmlFailure::lost;
  out_.reset_required = out_.reset_required || reset_required;
  if (failed && out_.failure.empty()) out_.failure = text;
  out_.failed_calls.insert(call);
  note(text);
}

bool NvmlQuery::link_failure(const char* name, unsigned link, nvml::Code code) {
  if (code == nvml::kInvalidArgument || code == nvml::kNotSupported) return false;
  failure(name, code, " of link " + std::to_string(link));
  return true;
}

std::optional<std::uint64_t> NvmlQuery::field(std::uint32_t id, std::uint32_t scope) {
  nvml::FieldValue value{};
  value.field = id;
  value.scope = scope;
  value.result = nvml::kNotSupported;
  const auto& entry = functions().field_values;
  const nvml::Code code = entry(handle_, 1, &value);
  if (code == nvml::kSuccess && value.result == nvml::kSuccess) return nvml::number_of(value);
  if (code == nvml::kSuccess) {
    // Drivers refuse fields that they do not know with different codes.
    if (meaning_of(entry.name, value.result) > NvmlFailure::note) {
      failure(entry.name, value.result);
    }
  } else if (entry.function != nullptr && code != nvml::kInvalidArgument) {
    failure(entry.name, code);
  }
  return std::nullopt;
}

// Older functions leave the long form empty.
std::string nvml_bus_id(const nvml::PciInfo& info) {
  for (const std::string& text : {nvml_text(info.bus_id, sizeof info.bus_id),
                                  nvml_text(info.bus_id_legacy, sizeof info.bus_id_legacy)}) {
    if (is_bus_id(text)) return codec::normalize_bus_id(text);
  }
  return "";
}

}  // namespace chipweave::agent
