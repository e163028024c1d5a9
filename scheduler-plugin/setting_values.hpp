// The values of settings as text: yes or no, and durations. For the tables of settings.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::sched {

// "true" or "false".
Result<void> set_flag(bool& to, const std::string& text);
std::string show_flag(bool yes);
// "30s", "500ms", "2m", "1h"; above zero, at most 24h.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
Result<void> set_duration(std::chrono::milliseconds& to, const std::string& text);
std::string show_duration(std::chrono::milliseconds duration);

}  // namespace chipweave::sched
