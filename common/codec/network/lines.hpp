// NetworkLines — the lines of a text with their numbers, for formats that are lines. Internal to
// common/codec/network.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::codec {

inline std::string_view trim_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

inline std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> out;
  for (text = trim_blanks(text); !text.empty(); text = trim_blanks(text)) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\v\f"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class NetworkLines {
 public:
  explicit NetworkLines(std::string_view text) : rest_(text) {}

  // The next line without its end; false after the last.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }
  // Of the line that came last: "line 3".
  std::string where() const { return "line " + std::to_string(number_); }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// The first line that is neither blank nor a comment, trimmed; "" if there is none.
inline std::string_view first_line(std::string_view text) {
  NetworkLines lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trim_blanks(line);
    if (!line.empty() && line.front() != '#') return line;
  }
  return {};
}

}  // namespace chipweave::codec
