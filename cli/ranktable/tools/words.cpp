#include "cli/ranktable/tools/words.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace chipweave::cli {

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(',');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> whole_number(std::string_view text, int most) {
  int out = 0;
  if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && out <= most ? std::optional(out) : std::nullopt;
}

}  // namespace chipweave::cli
