#include "common/codec/place/down_links.hpp"

#include <optional>
#include <string>

#include "common/base/limits.hpp"

namespace chipweave::codec {

std::vector<domain::DownLink> read_down_links(const JsonObject& object, int max_chip_index) {
  std::vector<domain::DownLink> out;
  JsonProblems& problems = object.problems();
  for (const JsonValue item : object.array("down_links", limits::kMaxDownLinks)) {
    const std::vector<JsonValue> parts(item.begin(), item.end());
    if (!item.is_array() || parts.size() < 2 || parts.size() > 3) {
      problems.add(item, "must be [a,b] or [a,b,lanes]");
      continue;
    }
    const auto a = as_integer(parts[0], 0, max_chip_index, problems);
    const auto b = as_integer(parts[1], 0, max_chip_index, problems);
    std::optional<int> lanes;
    if (parts.size() == 3) lanes = as_integer(parts[2], 1, limits::kMaxLanes, problems);
    if (!a || !b) continue;
    if (*a == *b) problems.add(item, "links chip " + std::to_string(*a) + " with itself");
    out.push_back({domain::ChipIndex{*a}, domain::ChipIndex{*b}, lanes});
  }
  return out;
}

}  // namespace chipweave::codec
