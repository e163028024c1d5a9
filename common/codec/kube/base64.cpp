#include "common/codec/kube/base64.hpp"

#include <cstdint>

namespace chipweave::codec {
namespace {

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int sextets = 0;  // of the current group, padding included
  int padding = 0;
  bool ended = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const int value = value_of(c);
    if (ended || (c == '=' ? sextets < 2 : value < 0 || padding > 0)) {
      return make_error(Errc::invalid_argument, "this is not base64");
    }
    if (c == '=') ++padding;
    bits = bits << 6U | static_cast<std::uint32_t>(c == '=' ? 0 : value);
    if (++sextets < 4) continue;
    for (int byte = 0; byte < 3 - padding; ++byte)
      out.push_back(static_cast<char>(bits >> (16U - 8U * static_cast<unsigned>(byte)) & 0xffU));
    ended = padding > 0;
    bits = 0;
    sextets = 0;
  }
  if (sextets != 0) return make_error(Errc::invalid_argument, "this base64 text is cut");
  return out;
}

std::string encode_base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= group.size() ? kDigits[bits >> (18U - 6U * i) & 63U] : '=';
  }
  return out;
}

}  // namespace chipweave::codec
