#include "common/base/natural_order.hpp"

#include "common/base/text.hpp"

namespace chipweave {
namespace {

// The run of digits at `at`, without leading zeros; `at` moves past it.
std::string_view number(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t from = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(from, at - from);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number(a, i);
      const std::string_view y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i;
    ++j;
  }
  const bool a_ends = i == a.size();
  const bool b_ends = j == b.size();
  if (a_ends != b_ends) return a_ends;
  return a < b;
}

}  // namespace chipweave
