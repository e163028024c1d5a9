#include "common/base/text.hpp"

namespace chipweave {

std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string with_dots(std::string_view text, std::size_t most) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= most) return std::string(text);
  return std::string(shortened(text, most - kDots.size())).append(kDots);
}

std::string comma_list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

}  // namespace chipweave
