// Texts that a stranger's device chose. Internal to common/codec/lldp.
#pragma once

#include <string>
#include <string_view>

#include "common/base/text.hpp"
#include "common/codec/lldp/lldp.hpp"

namespace chipweave::codec {

// Without control characters, shortened. `text` must be valid UTF-8 (a JSON parser's is).
inline std::string lldp_text(std::string_view text) {
  std::string out(shortened(text, kMaxLldpTextBytes));
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

// The same of bytes in no known encoding: anything but ASCII becomes '?'.
inline std::string lldp_ascii(std::string_view bytes) {
  std::string out(bytes.substr(0, kMaxLldpTextBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return lldp_text(out);
}

}  // namespace chipweave::codec
