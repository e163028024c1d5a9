#include "common/obs/logfmt.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

namespace chipweave::obs {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != 0x7f && c != '"' && c != '=' && c != '\\';
}

// Keys are ours; one that would break the format is mended and not trusted.
void append_key(std::string& out, std::string_view key) {
  for (const char c : key) out += is_plain(c) ? c : '_';
  if (key.empty()) out += '_';
}

std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(millis);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  gmtime_r(&whole, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     (millis - seconds).count());
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warn:
      return "warn";
    case Level::error:
      return "error";
  }
  return "error";
}

void append_value(std::string& out, std::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_plain)) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string format_line(std::chrono::system_clock::time_point time, Level level,
                        std::string_view message, std::initializer_list<Field> fields) {
  std::string line = "ts=" + timestamp(time) + " level=";
  line += to_string(level);
  line += " msg=";
  append_value(line, message);
  for (const Field& field : fields) {
    line += ' ';
    append_key(line, field.key);
    line += '=';
    append_value(line, field.value);
  }
  return line;
}

}  // namespace chipweave::obs
