#include "cli/age.hpp"

#include <cstdint>

namespace chipweave::cli {
namespace {

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
  if (seconds < 2 * 60) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two_units(minutes, "m", seconds % 60, "s");
  if (minutes < 3 * 60) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two_units(hours, "h", minutes % 60, "m");
  if (hours < 2 * 24) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (days < 8) return two_units(days, "d", hours % 24, "h");
  if (days < 2 * 365) return std::to_string(days) + "d";
  const std::int64_t years = days / 365;
  if (years < 8) return two_units(years, "y", days % 365, "d");
  return std::to_string(years) + "y";
}

}  // namespace chipweave::cli
