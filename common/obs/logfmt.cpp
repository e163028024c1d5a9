#include "common/obs/logfmt.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/base/clock.hpp"

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
  std::string second = rfc3339(seconds);
  second.pop_back();  // the Z
  return fmt::format("{}.{:03}Z", second, (millis - seconds).count());
}

}  // namespace

std::string_view to_string(Level level) {
  // in the order of Level
  constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warn", "error"};
  return kNames.at(static_cast<std::size_t>(level));
}

void append_value(std::string& out, std::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_plain)) {
    out += value;
    return;
  }
  constexpr std::string_view kEscaped = "\"\\\n\r\t";
  constexpr std::string_view kLetters = "\"\\nrt";
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
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
