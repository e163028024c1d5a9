// ChipMetrics — what a chip measures of itself at one moment: temperature, power, memory, load,
// errors, throttling, traffic of its links.
//
// For monitoring only: no placement and no fault follows from it (those are signals,
// observation.hpp). A value that the driver does not report is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// NVLink has up to 36 links a chip; PCIe is one more.
inline constexpr std::size_t kMaxLinksOfChip = 40;

// Why a chip runs below its clocks.
enum class ThrottleReason {
  sw_power_cap,    // the driver keeps the power limit
  sw_thermal,      // the driver keeps the temperature limit
  sync_boost,      // a group of chips runs at the clocks of its slowest
  hw_slowdown,     // the hardware, for one of the following reasons or another one
  hw_thermal,      // the hardware, because of heat
  hw_power_brake,  // the hardware, because the power supply demands it
  power,           // a power limit, of the driver or the hardware
  thermal,         // a temperature limit, likewise
  current,         // a current limit, likewise
};
inline constexpr std::size_t kThrottleReasons = 9;

enum class TrafficKind { nvlink, xgmi, hccs, pcie };

// Bytes over one link of a chip since a moment that the driver chooses. A smaller number than
// before means a restart.
struct LinkTraffic {
  TrafficKind kind = TrafficKind::nvlink;
  int port = 0;  // the vendor's number on that chip; PCIe: 0
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
};

// What a link carried during a moment before the measurement, where the driver reports no total.
struct LinkRate {
  TrafficKind kind = TrafficKind::hccs;
  int port = 0;
  double sent = 0;  // bytes a second
  double received = 0;
};

struct ChipMetrics {
  ChipIndex chip;
  std::optional<double> temperature_celsius;  // of the die; the hottest sensor where it has several
  std::optional<double> memory_temperature_celsius;
  std::optional<double> power_watts;
  std::optional<std::uint64_t> memory_used_bytes;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<double> utilization;  // 0 to 1: share of the time in which it computed
  std::optional<double> clock_hertz;  // of its compute units
  // Memory errors since the driver was loaded.
  std::optional<std::uint64_t> corrected_errors;
  std::optional<std::uint64_t> uncorrected_errors;
  std::map<ThrottleReason, bool> throttled;  // the reasons that the driver distinguishes
  // Each link in one of them; at most kMaxLinksOfChip together.
  std::vector<LinkTraffic> links;
  std::vector<LinkRate> rates;
};

// One measurement of all chips.
struct MetricsSample {
  std::int64_t taken_ms = 0;       // by the steady clock of the machine
  std::vector<ChipMetrics> chips;  // those that report anything; each once
};

// As labels and lines have them: "sw_power_cap", "nvlink".
std::string_view to_string(ThrottleReason reason);
std::string_view to_string(TrafficKind kind);
std::optional<ThrottleReason> throttle_reason(std::string_view name);
std::optional<TrafficKind> traffic_kind(std::string_view name);

}  // namespace chipweave::domain
