#include "cli/ranktable/tools/tool_log.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

// "2026-11-22 16:55:20,123", as Python's logging writes it.
std::string now() {
  const auto time = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 32> day{};
  const std::size_t size = std::strftime(day.data(), day.size(), "%Y-%m-%d %H:%M:%S", &local);
  const std::string digits = std::to_string(millis);
  return concat(std::string(day.data(), size), ",", std::string(3 - digits.size(), '0'), digits);
}

}  // namespace

void ToolLog::info(std::string_view message) const {
  err_(now() + "-INFO: " + printable(message) + "\n");
}

void ToolLog::warn(std::string_view message) const {
  err_(now() + "-WARNING: " + printable(message) + "\n");
}

void ToolLog::fail(std::string_view message) const {
  err_(program_ + ": error: " + printable(message) + "\n");
}

}  // namespace chipweave::cli
