#include "common/base/foreign_text.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace chipweave {

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMax = 120;
  return '"' + printable(with_dots(text, kMax)) + '"';
}

}  // namespace chipweave
