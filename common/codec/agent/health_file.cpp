#include "common/codec/agent/health_file.hpp"

#include <limits>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

std::optional<domain::ChipIndex> chip_index(JsonValue value, JsonProblems& problems) {
  const auto index = as_integer(value, 0, std::numeric_limits<int>::max(), problems);
  if (!index) return std::nullopt;
  return domain::ChipIndex{static_cast<int>(*index)};
}

std::vector<domain::ChipIndex> chips(const JsonObject& file, std::string_view key) {
  std::vector<domain::ChipIndex> out;
  for (const JsonValue item : file.array(key, static_cast<std::size_t>(limits::kMaxChips))) {
    if (const auto chip = chip_index(item, file.problems())) out.push_back(*chip);
  }
  return out;
}

std::vector<domain::DownLink> down_links(const JsonObject& file) {
  std::vector<domain::DownLink> out;
  JsonProblems& problems = file.problems();
  for (const JsonValue item : file.array("down_links", limits::kMaxDownLinks)) {
    const std::vector<JsonValue> parts(item.begin(), item.end());
    if (!item.is_array() || parts.size() < 2 || parts.size() > 3) {
      problems.add(item, "must be [a,b] or [a,b,lanes]");
      continue;
    }
    const auto a = chip_index(parts[0], problems);
    const auto b = chip_index(parts[1], problems);
    if (!a || !b) continue;
    if (*a == *b) problems.add(item, "names one chip twice");
    domain::DownLink link{*a, *b, std::nullopt};
    if (parts.size() == 3) {
      const auto lanes = as_integer(parts[2], 1, limits::kMaxLanes, problems);
      if (lanes) link.lanes = static_cast<int>(*lanes);
    }
    out.push_back(link);
  }
  return out;
}

}  // namespace

Result<domain::DeclaredFaults> parse_health_file(std::string_view text) {
  if (text.size() > limits::kMaxHealthFileBytes) {
    return make_error(Errc::limit_exceeded,
                      "the file has " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(limits::kMaxHealthFileBytes) + " are read");
  }
  const auto document = parse_json(text);
  if (!document) return document.error();
  JsonProblems problems;
  const JsonObject file(JsonValue(*document), {"unhealthy", "network_unhealthy", "down_links"},
                        problems);
  domain::DeclaredFaults out;
  out.unhealthy = chips(file, "unhealthy");
  out.network_unhealthy = chips(file, "network_unhealthy");
  out.down_links = down_links(file);
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec
