// LineReader — the lines of a text with their numbers, for formats that are read line by line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace chipweave::codec {

class LineReader {
 public:
  // The text must outlive the reader and the lines it returns.
  explicit LineReader(std::string_view text) : rest_(text) {}

  // The next line without its end; false after the last.
  bool next(std::string_view& line);
  // The same, without the blanks around it.
  bool next_trimmed(std::string_view& line);

  // The last line read: "line 3", and its length as written.
  std::string where() const { return "line " + std::to_string(number_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
  std::size_t bytes_ = 0;
};

// The first line that is neither blank nor a comment (#), trimmed; "" if there is none.
std::string_view first_content_line(std::string_view text);

// The value of a line "KEY: VALUE", "KEY : VALUE" or "KEY:VALUE", trimmed; nullopt for other lines.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key);

// "line 3, column 14" of a byte offset (1-based; an offset past the end counts as the end).
std::string text_position(std::string_view content, std::size_t offset);

}  // namespace chipweave::codec
