#include "common/codec/text/go_form.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace chipweave::codec {

// All of these occur only inside strings.
std::string go_form(std::string_view json) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEscapes = {{
      {"<", "\\u003c"},
      {">", "\\u003e"},
      {"&", "\\u0026"},
      {"\xE2\x80\xA8", "\\u2028"},
      {"\xE2\x80\xA9", "\\u2029"},
  }};
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    std::size_t taken = 0;
    for (const auto& [text, escape] : kEscapes) {
      if (!json.starts_with(text)) continue;
      out += escape;
      taken = text.size();
    }
    if (taken == 0) out += json.front();
    json.remove_prefix(taken == 0 ? 1 : taken);
  }
  return out;
}

}  // namespace chipweave::codec
