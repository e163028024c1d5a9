#include "common/codec/text/numbers.hpp"

#include <cmath>

#include "common/base/text.hpp"

namespace chipweave::codec {
std::optional<std::int64_t> parse_int(std::string_view text) {
  return parse_number<std::int64_t>(trim(text));
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  return parse_number<std::uint64_t>(trim(text));
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_number<std::uint32_t>(trim(text), 16);
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop == text.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace chipweave::codec
