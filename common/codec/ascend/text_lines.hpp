// AscendLines — the lines of what Ascend's tools print, with their numbers. Internal to
// common/codec/ascend.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/text.hpp"

namespace chipweave::codec::ascend {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

class AscendLines {
 public:
  explicit AscendLines(std::string_view text) : rest_(text) {}

  // The next line, without its end and the blanks around it; false after the last.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = trimmed(rest_.substr(0, end));
    bytes_ = end;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }
  // Of the line that came last: "line 3", and what it measures with its blanks.
  std::string where() const { return "line " + std::to_string(number_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
  std::size_t bytes_ = 0;
};

// Foreign text in a message: quoted, shortened; what could steer a terminal becomes '?'.
inline std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out = with_dots(text, kMost);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return '"' + out + '"';
}

// `0|[1-9][0-9]*` up to `most`; nullopt otherwise.
template <class Number>
std::optional<Number> plain_number(std::string_view text, Number most) {
  Number out{};
  if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && out <= most ? std::optional(out) : std::nullopt;
}

// A line that a person copied along with the output: "$ cat /etc/hccn.conf", "[root@n1 ~]# …".
inline bool is_prompt(std::string_view line) {
  if (line.starts_with("$ ")) return true;
  const std::size_t sign = std::min({line.find("# "), line.find("$ "), line.size()});
  const std::string_view before = line.substr(0, sign);
  return sign < line.size() && before.find('@') != std::string_view::npos &&
         before.find('=') == std::string_view::npos;
}

// The value of a line "KEY: VALUE" or "KEY:VALUE" (any case as written); nullopt for other lines.
inline std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  const std::string_view rest = trimmed(line.substr(key.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  return trimmed(rest.substr(1));
}

}  // namespace chipweave::codec::ascend
