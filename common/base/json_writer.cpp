#include "common/base/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/utf8.hpp"

namespace chipweave {
namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t";
  constexpr std::string_view kLetters = "\"\\nrt";
  if (const std::size_t at = kEscaped.find(static_cast<char>(c)); at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
    return;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u00";
  out += kHex[c >> 4U];
  out += kHex[c & 15U];
}

// 40 is written as 40.0, so that readers with typed numbers see one type.
void append_with_point(std::string& out, std::string_view digits) {
  out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of the run that needs no change
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    const std::size_t length = c < 0x80 ? 0 : utf8_length(text, i);
    if (length != 0) {
      i += length;
      continue;
    }
    out.append(text.substr(plain, i - plain));
    if (c < 0x80) {
      append_escape(out, c);
    } else {
      out += "\xEF\xBF\xBD";
    }
    plain = ++i;
  }
  out.append(text.substr(plain));
  out += '"';
}

void append_json_number(std::string& out, double value) {
  std::array<char, 32> text{};
  if (!std::isfinite(value)) value = 0;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  append_with_point(out, {text.data(), end.ptr});
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  --depth_;
  if (!first_ || new_line_) line();
  out_ += bracket;
  first_ = false;
  return *this;
}

void JsonWriter::line() {
  if (indent_ == 0 && !new_line_) return;
  new_line_ = false;
  out_ += '\n';
  out_.append(depth_ * indent_, ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  first_ = false;
  if (depth_ > 0) line();
}

void JsonWriter::colon() {
  out_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  colon();
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  append_json_string(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  separate();
  append_json_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::decimal(double value) {
  if (!std::isfinite(value)) return raw("null");
  const double size = std::abs(value);
  const bool in_decimals = size == 0 || (size >= 1e-4 && size < 1e15);
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    in_decimals ? std::chars_format::fixed : std::chars_format::scientific);
  separate();
  append_with_point(out_, {text.data(), end.ptr});
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::reformatted(std::string_view json) {
  constexpr std::string_view kBetween = "{}[],: \n\r\t";
  for (std::size_t i = 0; i < json.size();) {
    const char c = json[i];
    if (kBetween.find(c) != std::string_view::npos) {
      if (c == '{' || c == '[') open(c);
      if (c == '}' || c == ']') close(c);
      if (c == ':') colon();
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (c == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      ++end;
    } else {
      end = std::min(json.find_first_of(kBetween, i), json.size());
    }
    separate();
    out_ += json.substr(i, end - i);
    i = end;
  }
  return *this;
}

JsonWriter& JsonWriter::integers(const std::vector<int>& values) {
  begin_array();
  for (const int v : values) integer(v);
  return end_array();
}

}  // namespace chipweave
