#include "common/codec/mindcluster/check_code.hpp"

namespace chipweave::codec::mindcluster {

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
