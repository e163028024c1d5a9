#include "node-agent/probes/sysfs/sysfs_value.hpp"

#include "common/base/text.hpp"

#include <algorithm>
#include <charconv>

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxPlain = 128;

}  // namespace

std::uint32_t hex_of(const SysfsText& text) {
  if (!text) return 0;
  std::string_view digits = *text;
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  std::uint32_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  return out;
}

double leading(const SysfsText& text) {
  if (!text) return 0;
  double out = 0;
  std::from_chars(text->data(), text->data() + text->size(), out);
  return out > 0 && out < 1e7 ? out : 0;
}

int int_of(const SysfsText& text, int otherwise) {
  int out = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), out);
  return out;
}

std::optional<std::uint64_t> count_of(const SysfsText& text) {
  return text ? parse_number<std::uint64_t>(*text) : std::nullopt;
}

std::string word_of(const SysfsText& text) {
  if (!text) return "";
  const std::size_t colon = text->find(": ");
  return plain(std::string_view(*text).substr(colon == std::string::npos ? 0 : colon + 2));
}

std::string plain(std::string_view text) {
  std::string out(text.substr(0, kMaxPlain));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace chipweave::agent
