#include "cli/chip_flags.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

std::optional<int> number_up_to(int most, std::string_view text) {
  const auto value = parse_number<int>(text);
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

// "4" or "4-7": the first and the last index.
std::optional<std::pair<int, int>> range_of(std::string_view item) {
  const std::size_t dash = std::min(item.find('-'), item.size());
  const auto first = number_up_to(limits::kMaxChipIndex, item.substr(0, dash));
  const auto last =
      dash == item.size() ? first : number_up_to(limits::kMaxChipIndex, item.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return std::pair(*first, *last);
}

Error wrong(const std::string& flag, const std::string& what) {
  return make_error(Errc::invalid_argument, what).in(flag);
}

}  // namespace

Result<std::vector<int>> parse_chips(const std::string& flag,
                                     const std::vector<std::string>& pieces) {
  std::vector<int> out;
  std::unordered_set<int> seen;
  for (const std::string& piece : pieces) {
    if (piece.empty()) continue;
    for (const std::string_view item : split(piece, ',')) {
      const auto range = range_of(item);
      if (!range) {
        return wrong(flag, "expected chip indices such as 0,1,4 or 0-3,6, got " + in_quotes(item));
      }
      const auto [first, last] = *range;
      if (first > last) return wrong(flag, "range " + in_quotes(item) + " is reversed");
      for (int chip = first; chip <= last; ++chip) {
        if (!seen.insert(chip).second) {
          return wrong(flag, "expected each chip once, got " + std::to_string(chip) + " twice");
        }
        out.push_back(chip);
      }
    }
  }
  return out;
}

Result<domain::DownLink> parse_down_link(const std::string& text) {
  const std::string_view all = text;
  const std::size_t colon = std::min(all.find(':'), all.size());
  const std::size_t dash = std::min(all.find('-'), colon);
  const std::string_view behind = all.substr(dash, colon - dash);  // "-3"
  const auto a = number_up_to(limits::kMaxChipIndex, all.substr(0, dash));
  const auto b = number_up_to(limits::kMaxChipIndex, behind.substr(behind.empty() ? 0 : 1));
  std::optional<int> lanes;
  if (colon < all.size()) lanes = number_up_to(limits::kMaxLanes, all.substr(colon + 1));
  const bool odd_lanes = colon < all.size() && lanes.value_or(0) < 1;
  if (!a || !b || odd_lanes) {
    return wrong("--down", "expected a link A-B or A-B:LANES, got " + in_quotes(text));
  }
  if (*a == *b) {
    return wrong("--down", "expected two different chips, got " + in_quotes(text));
  }
  return domain::DownLink{domain::ChipIndex{*a}, domain::ChipIndex{*b}, lanes};
}

}  // namespace chipweave::cli
