#include "common/codec/topology/pci.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace chipweave::codec {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

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

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string normalize_bus_id(std::string_view text) {
  std::string out(trim(text));
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::size_t domain = out.find(':');
  if (domain == std::string::npos) return out;
  std::size_t zeros = 0;
  while (domain - zeros > 4 && out[zeros] == '0') ++zeros;
  return out.substr(zeros);
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  return whole_number<std::int64_t>(text, 10);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  return whole_number<std::uint64_t>(text, 10);
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  text = trim(text);
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return whole_number<std::uint32_t>(text, 16);
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop == text.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string text_position(std::string_view content, std::size_t offset) {
  const std::string_view before = content.substr(0, std::min(offset, content.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

int pcie_generation_of_gts(double gigatransfers) {
  if (gigatransfers <= 0) return 0;
  if (gigatransfers > 50) return 6;
  if (gigatransfers > 25) return 5;
  return gigatransfers > 12 ? 4 : 3;
}

}  // namespace chipweave::codec
