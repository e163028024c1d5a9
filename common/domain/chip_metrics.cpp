#include "common/domain/chip_metrics.hpp"

#include <array>

namespace chipweave::domain {
namespace {

constexpr std::array<std::string_view, kThrottleReasons> kReasons = {
    "sw_power_cap",   "sw_thermal", "sync_boost", "hw_slowdown", "hw_thermal",
    "hw_power_brake", "power",      "thermal",    "current"};
constexpr std::array<std::string_view, 4> kKinds = {"nvlink", "xgmi", "hccs", "pcie"};

template <class Enum, std::size_t kCount>
std::optional<Enum> named(const std::array<std::string_view, kCount>& names,
                          std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names.at(i) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(ThrottleReason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

std::string_view to_string(TrafficKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::optional<ThrottleReason> throttle_reason(std::string_view name) {
  return named<ThrottleReason>(kReasons, name);
}

std::optional<TrafficKind> traffic_kind(std::string_view name) {
  return named<TrafficKind>(kKinds, name);
}

}  // namespace chipweave::domain
