#include "common/obs/log.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/obs/logfmt.hpp"

namespace chipweave::obs {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  // in the order of Level
  constexpr std::array kLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                  spdlog::level::err};
  return kLevels.at(static_cast<std::size_t>(level));
}

// spdlog carries whole lines that are formatted here, and gives the sink, its lock and the level.
spdlog::logger& logger() {
  // never destroyed: threads may log while the program ends
  static spdlog::logger* const one = [] {
    auto* made = new spdlog::logger("chipweave", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *one;
}

}  // namespace

Field::Field(std::string_view k, double v) : key(k) {
  std::array<char, 32> text;
  value.assign(text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr);
}

bool set_level(std::string_view level) {
  for (const Level each : {Level::debug, Level::info, Level::warn, Level::error}) {
    if (level == to_string(each)) {
      logger().set_level(to_spdlog(each));
      return true;
    }
  }
  return false;
}

void log(Level level, std::string_view message, std::initializer_list<Field> fields) {
  const auto where = to_spdlog(level);
  if (!logger().should_log(where)) return;
  const std::string line = format_line(std::chrono::system_clock::now(), level, message, fields);
  logger().log(where, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace chipweave::obs
