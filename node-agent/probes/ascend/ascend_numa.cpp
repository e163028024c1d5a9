#include "node-agent/probes/ascend/ascend_numa.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/codec/text/numbers.hpp"

namespace chipweave::agent {
namespace {

constexpr int kMaxCpu = 1 << 16;
constexpr std::size_t kMaxRanges = 1024;

std::optional<int> cpu_number(std::string_view text) {
  const auto number = codec::parse_unsigned(text);
  if (!number || *number > static_cast<std::uint64_t>(kMaxCpu)) return std::nullopt;
  return static_cast<int>(*number);
}

// "0-3,8" → {0, 3}, {8, 8}; empty if malformed.
std::vector<std::pair<int, int>> cpu_ranges(std::string_view text) {
  std::vector<std::pair<int, int>> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const auto first = cpu_number(part.substr(0, dash));
    const auto last = dash == part.size() ? first : cpu_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || out.size() == kMaxRanges) return {};
    out.emplace_back(*first, *last);
  }
  return out;
}

}  // namespace

NumaNodes::NumaNodes(const SysfsTree& tree) {
  const std::string folder = "/sys/devices/system/node";
  for (const std::string& name : tree.names(folder)) {
    const auto node = name.starts_with("node") ? cpu_number(name.substr(4)) : std::nullopt;
    const auto list = tree.text(folder + "/" + name + "/cpulist");
    if (!node || !list) continue;
    for (const auto& [first, last] : cpu_ranges(*list)) ranges_.push_back({first, last, *node});
  }
}

int NumaNodes::of(std::string_view cpus) const {
  std::optional<int> found;
  for (const auto& [first, last] : cpu_ranges(cpus)) {
    const auto it = std::find_if(ranges_.begin(), ranges_.end(), [first = first](const Range& r) {
      return r.first <= first && first <= r.last;
    });
    if (it == ranges_.end() || it->last < last || (found && *found != it->node)) return -1;
    found = it->node;
  }
  return found.value_or(-1);
}

}  // namespace chipweave::agent
