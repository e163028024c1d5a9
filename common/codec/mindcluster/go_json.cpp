#include "common/codec/mindcluster/go_json.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace chipweave::codec::mindcluster {

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

std::string check_code(std::string_view form, const Digest& sha256) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : sha256(form)) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

}  // namespace chipweave::codec::mindcluster
