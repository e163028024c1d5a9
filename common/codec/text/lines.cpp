#include "common/codec/text/lines.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace chipweave::codec {

bool LineReader::next(std::string_view& line) {
  if (rest_.empty()) return false;
  bytes_ = std::min(rest_.find('\n'), rest_.size());
  line = rest_.substr(0, bytes_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  rest_.remove_prefix(std::min(bytes_ + 1, rest_.size()));
  ++number_;
  return true;
}

bool LineReader::next_trimmed(std::string_view& line) {
  if (!next(line)) return false;
  line = trim(line);
  return true;
}

std::string_view first_content_line(std::string_view text) {
  LineReader lines(text);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (!line.empty() && line.front() != '#') return line;
  }
  return {};
}

std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  const std::string_view rest = trim(line.substr(key.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  return trim(rest.substr(1));
}

std::string text_position(std::string_view content, std::size_t offset) {
  const std::string_view before = content.substr(0, std::min(offset, content.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace chipweave::codec
