#include "cli/age.hpp"

#include <cstdint>

namespace chipweave::cli {
namespace {

// Each in the next smaller unit.
constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60;
constexpr std::int64_t kDay = 24;
constexpr std::int64_t kYear = 365;

// "3m20s"; "3m" without a rest.
std::string two_units(std::int64_t large, const char* unit, std::int64_t rest, const char* small) {
  std::string out = std::to_string(large) + unit;
  if (rest > 0) out += std::to_string(rest) + small;
  return out;
}

}  // namespace

std::string age_text(std::chrono::seconds age) {
  const std::int64_t seconds = age.count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * kMinute) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / kMinute;
  if (minutes < 10) return two_units(minutes, "m", seconds % kMinute, "s");
  if (minutes < 3 * kHour) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / kHour;
  if (hours < 8) return two_units(hours, "h", minutes % kHour, "m");
  if (hours < 2 * kDay) return std::to_string(hours) + "h";
  const std::int64_t days = hours / kDay;
  if (days < 8) return two_units(days, "d", hours % kDay, "h");
  if (days < 2 * kYear) return std::to_string(days) + "d";
  const std::int64_t years = days / kYear;
  if (years < 8) return two_units(years, "y", days % kYear, "d");
  return std::to_string(years) + "y";
}

}  // namespace chipweave::cli
