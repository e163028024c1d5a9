#include "common/base/in_quotes.hpp"

#include "common/base/text.hpp"

namespace chipweave {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 120;
  std::string out = with_dots(text, kMost);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return '"' + out + '"';
}

}  // namespace chipweave
