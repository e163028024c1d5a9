#include "common/codec/agent/chip_list_annotation.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

std::optional<int> index_of(std::string_view digits) {
  const auto out = parse_number<int>(digits);
  return out && *out >= 0 && *out <= limits::kMaxChipIndex ? out : std::nullopt;
}

}  // namespace

Result<ChipSelection> parse_chip_selection(std::string_view annotation, std::string_view text) {
  const auto refused = [&](Errc code, const std::string& why) {
    return make_error(code, "annotation " + std::string(annotation) + " " + why);
  };
  if (text.size() > kMaxChipListBytes) {
    return refused(Errc::limit_exceeded,
                   "has more than " + std::to_string(kMaxChipListBytes) + " bytes");
  }
  ChipSelection out;
  text = trim(text);
  if (text.empty()) return out;
  if (text == "*") {
    out.all = true;
    return out;
  }
  for (const std::string_view item : split(text, ',')) {
    const std::string_view part = trim(item);
    const auto index = index_of(part);
    if (!index) {
      return refused(Errc::invalid_argument,
                     "has " + quoted_excerpt(part) +
                         " where a chip's number must be; it lists chips as \"3,5\", or \"*\" for "
                         "all of them");
    }
    out.chips.push_back(domain::ChipIndex{*index});
  }
  std::sort(out.chips.begin(), out.chips.end());
  out.chips.erase(std::unique(out.chips.begin(), out.chips.end()), out.chips.end());
  if (out.chips.size() > static_cast<std::size_t>(limits::kMaxChips)) {
    return refused(Errc::limit_exceeded, "lists more chips than a machine has");
  }
  return out;
}

}  // namespace chipweave::codec
