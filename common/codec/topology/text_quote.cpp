#include "common/codec/topology/text_quote.hpp"

#include <algorithm>
#include <cstddef>

#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

// Bytes of the UTF-8 character at the beginning of `text`, 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  std::size_t length = 0;
  if (byte < 0x80) length = 1;
  if (byte >= 0xC2 && byte < 0xE0) length = 2;
  if (byte >= 0xE0 && byte < 0xF0) length = 3;
  if (byte >= 0xF0 && byte < 0xF5) length = 4;
  if (length > text.size()) return 0;
  const auto second = length > 2 ? static_cast<unsigned char>(text[1]) : 0U;
  const bool overlong = (byte == 0xE0 && second < 0xA0) || (byte == 0xF0 && second < 0x90);
  const bool no_character = (byte == 0xED && second > 0x9F) || (byte == 0xF4 && second > 0x8F);
  if (overlong || no_character) return 0;
  const std::string_view rest = text.substr(0, length).substr(std::min<std::size_t>(length, 1));
  const bool good = std::all_of(rest.begin(), rest.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  });
  return good ? length : 0;
}

}  // namespace

std::string quoted_excerpt(std::string_view text) {
  std::string_view shown = shortened(text, kMostQuoted);
  const bool cut = shown.size() < text.size();
  std::string out = "\"";
  while (!shown.empty()) {
    const std::size_t length = character_length(shown);
    const bool printable = length > 1 || (length == 1 && shown[0] >= 0x20 && shown[0] != 0x7f);
    if (printable) {
      out += shown.substr(0, length);
    } else {
      out += '?';
    }
    shown.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + (cut ? "…\"" : "\"");
}

std::size_t find_no_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace chipweave::codec
