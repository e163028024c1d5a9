#include "scheduler-plugin/setting_values.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::sched {

Result<void> set_flag(bool& to, const std::string& text) {
  if (text != "true" && text != "false")
    return make_error(Errc::invalid_argument, "expected true or false, got " + in_quotes(text));
  to = text == "true";
  return {};
}

std::string show_flag(bool yes) { return yes ? "true" : "false"; }

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  const std::uint64_t n = parse_number<std::uint64_t>(text.substr(0, digits)).value_or(0);
  const std::uint64_t factor = unit == "ms"  ? 1
                               : unit == "s" ? 1000
                               : unit == "m" ? 60'000
                               : unit == "h" ? 3'600'000
                                             : 0;
  if (factor == 0 || digits > 9 || n == 0 || n * factor > 86'400'000) {
    return make_error(Errc::invalid_argument,
                      "expected a duration such as 30s or 500ms, above 0 and at most 24h, got " +
                          in_quotes(text));
  }
  return std::chrono::milliseconds(n * factor);
}

Result<void> set_duration(std::chrono::milliseconds& to, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration) return std::move(duration).error();
  to = *duration;
  return {};
}

std::string show_duration(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + "s" : std::to_string(ms) + "ms";
}

}  // namespace chipweave::sched
