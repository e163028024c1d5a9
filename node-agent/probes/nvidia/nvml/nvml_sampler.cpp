#include "node-agent/probes/nvidia/nvml/nvml_sampler.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;
using domain::ThrottleReason;
using domain::TrafficKind;

struct ReasonBit {
  std::uint64_t bit;
  ThrottleReason reason;
};
// Not those that say only that the clocks were chosen: idle, application and display clocks.
constexpr std::array<ReasonBit, 6> kReasons = {{
    {nvml::kClocksSwPowerCap, ThrottleReason::sw_power_cap},
    {nvml::kClocksHwSlowdown, ThrottleReason::hw_slowdown},
    {nvml::kClocksSyncBoost, ThrottleReason::sync_boost},
    {nvml::kClocksSwThermalSlowdown, ThrottleReason::sw_thermal},
    {nvml::kClocksHwThermalSlowdown, ThrottleReason::hw_thermal},
    {nvml::kClocksHwPowerBrake, ThrottleReason::hw_power_brake},
}};

struct TrafficField {
  std::uint32_t field;
  std::uint64_t unit;  // bytes
  bool sent;
};
constexpr std::uint64_t kKib = 1024;
// Of one link. A driver may answer both pairs; the first is used.
constexpr std::array<TrafficField, 4> kLinkFields = {{
    {nvml::kFieldLinkDataSent, kKib, true},
    {nvml::kFieldLinkDataReceived, kKib, false},
    {nvml::kFieldLinkBytesSent, 1, true},
    {nvml::kFieldLinkBytesReceived, 1, false},
}};
constexpr std::array<TrafficField, 2> kPcieFields = {{
    {nvml::kFieldPcieBytesSent, 1, true},
    {nvml::kFieldPcieBytesReceived, 1, false},
}};

nvml::FieldValue requested(std::uint32_t id, std::uint32_t scope) {
  nvml::FieldValue out{};
  out.field = id;
  out.scope = scope;
  return out;
}

std::vector<nvml::FieldValue> all_fields() {
  std::vector<nvml::FieldValue> out = {requested(nvml::kFieldMemoryTemperature, 0)};
  for (const TrafficField& field : kPcieFields) out.push_back(requested(field.field, 0));
  for (unsigned link = 0; link < nvml::kMaxLinks; ++link) {
    for (const TrafficField& field : kLinkFields) out.push_back(requested(field.field, link));
  }
  return out;
}

// nullopt: too large for the unit.
std::optional<std::uint64_t> bytes_of(const nvml::FieldValue& value, std::uint64_t unit) {
  const std::uint64_t number = nvml::number_of(value);
  if (number > std::numeric_limits<std::uint64_t>::max() / unit) return std::nullopt;
  return number * unit;
}

// Of one link or PCIe, both directions in the same unit.
struct Traffic {
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> received;
};

template <std::size_t kCount>
const TrafficField* find(const std::array<TrafficField, kCount>& fields, std::uint32_t id) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [id](const TrafficField& one) { return one.field == id; });
  return found == fields.end() ? nullptr : &*found;
}

void add(const TrafficField& field, const nvml::FieldValue& value, Traffic& to) {
  auto& direction = field.sent ? to.sent : to.received;
  if (!direction) direction = bytes_of(value, field.unit);
}

// A 32-bit counter of bytes wraps several times between two measurements on a busy bus.
bool is_wide(const nvml::FieldValue& value) {
  return value.value_type >= nvml::kUnsignedLong && value.value_type <= nvml::kSignedLongLong;
}

bool answers(const ChipMetrics& out) {
  return out.temperature_celsius || out.memory_temperature_celsius || out.power_watts ||
         out.memory_used_bytes || out.utilization || out.clock_hertz || out.corrected_errors ||
         out.uncorrected_errors || !out.throttled.empty() || !out.links.empty();
}

}  // namespace

NvmlSampler::NvmlSampler(const NvmlLibrary& library) : f_(library.functions()) {
  unsigned count = 0;
  if (f_.count(&count) != nvml::kSuccess) count = 0;
  count = std::min(count, static_cast<unsigned>(limits::kMaxChips));
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device handle = nullptr;
    if (f_.handle_by_index(i, &handle) != nvml::kSuccess || handle == nullptr) continue;
    targets_.push_back({static_cast<int>(i), handle, {}, false});
  }
}

std::vector<ChipMetrics> NvmlSampler::sample() {
  std::vector<ChipMetrics> out;
  out.reserve(targets_.size());
  for (Target& target : targets_) {
    ChipMetrics chip;
    chip.chip.value = target.index;
    read_state(target.handle, chip);
    read_memory(target.handle, chip);
    read_fields(target, chip);
    if (answers(chip)) out.push_back(std::move(chip));
  }
  return out;
}

void NvmlSampler::read_state(nvml::Device handle, ChipMetrics& out) const {
  unsigned number = 0;
  nvml::Temperature heat{};
  heat.version = nvml::kTemperatureV1;
  heat.sensor = nvml::kTemperatureGpu;
  if (f_.temperature(handle, nvml::kTemperatureGpu, &number) == nvml::kSuccess) {
    out.temperature_celsius = number;
  } else if (f_.temperature_v1(handle, &heat) == nvml::kSuccess) {
    out.temperature_celsius = heat.celsius;
  }
  if (f_.power_usage(handle, &number) == nvml::kSuccess) out.power_watts = number / 1000.0;
  nvml::Utilization load{};
  if (f_.utilization(handle, &load) == nvml::kSuccess) out.utilization = load.gpu / 100.0;
  if (f_.clock_info(handle, nvml::kClockSm, &number) == nvml::kSuccess) {
    out.clock_hertz = number * 1e6;
  }
  std::uint64_t bits = 0;
  if (f_.clock_reasons(handle, &bits) == nvml::kSuccess) {
    for (const ReasonBit& one : kReasons) out.throttled[one.reason] = (bits & one.bit) != 0;
  }
}

void NvmlSampler::read_memory(nvml::Device handle, ChipMetrics& out) const {
  nvml::MemoryV2 memory{};
  memory.version = nvml::kMemoryV2;
  nvml::Memory first{};
  if (f_.memory_info_v2(handle, &memory) == nvml::kSuccess) {
    out.memory_used_bytes = memory.used;
    out.memory_total_bytes = memory.total;
  } else if (f_.memory_info(handle, &first) == nvml::kSuccess) {
    out.memory_used_bytes = first.used;
    out.memory_total_bytes = first.total;
  }
  std::uint64_t errors = 0;
  if (f_.ecc_errors(handle, nvml::kEccCorrected, nvml::kEccVolatile, &errors) == nvml::kSuccess) {
    out.corrected_errors = errors;
  }
  if (f_.ecc_errors(handle, nvml::kEccUncorrected, nvml::kEccVolatile, &errors) == nvml::kSuccess) {
    out.uncorrected_errors = errors;
  }
}

void NvmlSampler::read_fields(Target& target, ChipMetrics& out) const {
  if (!target.prepared) target.fields = all_fields();
  if (target.fields.empty()) return;
  for (nvml::FieldValue& field : target.fields) {
    field.result = nvml::kNotSupported;
    field.value = 0;
  }
  const auto count = static_cast<int>(target.fields.size());
  if (f_.field_values(target.handle, count, target.fields.data()) != nvml::kSuccess) return;
  const auto failed = [](const nvml::FieldValue& field) { return field.result != nvml::kSuccess; };
  if (!std::exchange(target.prepared, true)) std::erase_if(target.fields, failed);

  std::map<std::pair<TrafficKind, std::uint32_t>, Traffic> traffic;
  for (const nvml::FieldValue& field : target.fields) {
    if (failed(field)) continue;
    if (field.field == nvml::kFieldMemoryTemperature) {
      out.memory_temperature_celsius = static_cast<double>(nvml::number_of(field));
    } else if (const TrafficField* pcie = find(kPcieFields, field.field)) {
      if (is_wide(field)) add(*pcie, field, traffic[{TrafficKind::pcie, 0}]);
    } else if (const TrafficField* link = find(kLinkFields, field.field)) {
      add(*link, field, traffic[{TrafficKind::nvlink, field.scope}]);
    }
  }
  for (const auto& [link, bytes] : traffic) {
    if (!bytes.sent || !bytes.received) continue;
    out.links.push_back({link.first, static_cast<int>(link.second), *bytes.sent, *bytes.received});
  }
}

}  // namespace chipweave::agent
