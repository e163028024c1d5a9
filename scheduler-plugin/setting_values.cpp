#include "scheduler-plugin/setting_values.hpp"

#include <utility>

#include "common/base/foreign_text.hpp"
#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

Result<void> set_flag(bool& to, const std::string& text) {
  if (text != "true" && text != "false")
    return make_error(Errc::invalid_argument, "expected true or false, got " + in_quotes(text));
  to = text == "true";
  return {};
}

std::string show_flag(bool yes) { return yes ? "true" : "false"; }

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
