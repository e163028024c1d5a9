#include "common/codec/text/numbers.hpp"

#include <cmath>

#include "common/codec/text/words.hpp"

namespace chipweave::codec {
namespace {

template <class T>
std::optional<T> whole_number(std::string_view text, int base) {
  text = trim(text);
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_int(std::string_view text) {
  return whole_number<std::int64_t>(text, 10);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  return whole_number<std::uint64_t>(text, 10);
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return whole_number<std::uint32_t>(text, 16);
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop == text.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace chipweave::codec
