// Texts that the device on a port chose. Internal to common/codec/lldp.
#pragma once

#include <string>
#include <string_view>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/lldp/lldp.hpp"

namespace chipweave::codec {

// Without control characters, shortened. `text` must be valid UTF-8 (a JSON parser's is).
inline std::string lldp_text(std::string_view text) {
  return printable(shortened(text, kMaxLldpTextBytes));
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
