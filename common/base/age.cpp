#include "common/base/age.hpp"

#include <algorithm>
#include <cstdint>

namespace chipweave {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kYear = 365 * kDay;

std::string in_units(std::int64_t seconds, std::int64_t unit, char letter) {
  return std::to_string(seconds / unit) + letter;
}

// In two units, the second left out when it is 0.
std::string in_two(std::int64_t seconds, std::int64_t unit, char letter, std::int64_t smaller,
                   char smaller_letter) {
  const std::int64_t rest = seconds % unit / smaller;
  return in_units(seconds, unit, letter) +
         (rest > 0 ? std::to_string(rest) + smaller_letter : std::string());
}

}  // namespace

std::string age_text(std::chrono::seconds age) {
  const std::int64_t seconds = std::max<std::int64_t>(age.count(), 0);
  if (seconds < 2 * kMinute) return in_units(seconds, 1, 's');
  if (seconds < 10 * kMinute) return in_two(seconds, kMinute, 'm', 1, 's');
  if (seconds < 3 * kHour) return in_units(seconds, kMinute, 'm');
  if (seconds < 8 * kHour) return in_two(seconds, kHour, 'h', kMinute, 'm');
  if (seconds < 2 * kDay) return in_units(seconds, kHour, 'h');
  if (seconds < 8 * kDay) return in_two(seconds, kDay, 'd', kHour, 'h');
  if (seconds < 2 * kYear) return in_units(seconds, kDay, 'd');
  if (seconds < 8 * kYear) return in_two(seconds, kYear, 'y', kDay, 'd');
  return in_units(seconds, kYear, 'y');
}

}  // namespace chipweave
