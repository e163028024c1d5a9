#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/topology/hardware/pci.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxNotes = 64;

bool is_bus_id(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos &&
         std::count(text.begin(), text.end(), ':') == 2 &&
         std::count(text.begin(), text.end(), '.') == 1;
}

}  // namespace

void NvmlQuery::note(std::string text) {
  if (out_.notes.size() < kMaxNotes) out_.notes.push_back(std::move(text));
}

void NvmlQuery::failure(const std::string& what, nvml::Code code) {
  if (code == nvml::kNotSupported) return;
  out_.lost = out_.lost || code == nvml::kGpuIsLost;
  const std::string text = what + ": " + library_.text_of(code);
  const bool serious = code == nvml::kResetRequired || code == nvml::kUnknown;
  out_.reset_required = out_.reset_required || code == nvml::kResetRequired;
  if (serious && out_.failure.empty()) out_.failure = text;
  note(text);
}

std::optional<std::uint64_t> NvmlQuery::field(std::uint32_t id, std::uint32_t scope) const {
  nvml::FieldValue value{};
  value.field = id;
  value.scope = scope;
  value.result = nvml::kNotSupported;
  if (functions().field_values(handle_, 1, &value) != nvml::kSuccess) return std::nullopt;
  if (value.result != nvml::kSuccess) return std::nullopt;
  return nvml::number_of(value);
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
