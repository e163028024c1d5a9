#include "common/codec/text/quoting.hpp"

#include <algorithm>
#include <cstddef>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace chipweave::codec {

std::string quoted_excerpt(std::string_view text) {
  std::string_view shown = shortened(text, kMaxQuotedBytes);
  const bool cut = shown.size() < text.size();
  std::string out = "\"";
  while (!shown.empty()) {
    const std::size_t length = utf8_length(shown, 0);
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

std::string quoted_list(const std::vector<std::string>& texts) {
  constexpr std::size_t kMaxShown = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMaxShown, texts.size()); ++i) {
    out += (i == 0 ? "" : ", ") + quoted_excerpt(texts[i]);
  }
  return out + (texts.size() > kMaxShown ? " …" : "");
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace chipweave::codec
