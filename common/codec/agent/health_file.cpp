#include "common/codec/agent/health_file.hpp"

#include <limits>
#include <string>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/place/down_links.hpp"

namespace chipweave::codec {
namespace {

constexpr int kMaxIndex = std::numeric_limits<int>::max();

std::vector<domain::ChipIndex> chips(const JsonObject& file, std::string_view key) {
  std::vector<domain::ChipIndex> out;
  for (const JsonValue item : file.array(key, static_cast<std::size_t>(limits::kMaxChips))) {
    const auto chip = as_integer(item, 0, kMaxIndex, file.problems());
    if (chip) out.push_back(domain::ChipIndex{*chip});
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
  out.down_links = read_down_links(file, kMaxIndex);
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec
