#include "common/codec/topology/hardware/directed_lanes.hpp"

#include <algorithm>
#include <set>

namespace chipweave::codec {

std::vector<DirectedLanes::Agreed> DirectedLanes::agree(
    Warnings& warnings, const std::function<int(int)>& index_of) const {
  std::set<std::pair<int, int>> pairs;
  for (const auto& [ends, lanes] : lanes_) pairs.insert(std::minmax(ends.first, ends.second));
  const auto stated = [this](int from, int to) {
    const auto it = lanes_.find({from, to});
    return it == lanes_.end() ? 0 : it->second;
  };
  std::vector<Agreed> out;
  for (const auto& [a, b] : pairs) {
    const int there = stated(a, b);
    const int back = stated(b, a);
    const int lanes = std::min(there, back);
    if (there != back) {
      const std::string one = std::to_string(index_of ? index_of(a) : a);
      const std::string other = std::to_string(index_of ? index_of(b) : b);
      warnings.add("chips " + one + " and " + other +
                   " disagree on their link: " + std::to_string(there) + " lanes from " + one +
                   ", " + std::to_string(back) + " from " + other + "; " +
                   (lanes == 0 ? "left out" : "taken as " + std::to_string(lanes)));
    }
    if (lanes > 0) out.push_back({a, b, lanes});
  }
  return out;
}

}  // namespace chipweave::codec
