#include "scheduler-plugin/app/measured.hpp"

#include <algorithm>

namespace chipweave::sched {

std::optional<double> measured_gbps(const Decision& decision, const Node& node, Clock::Wall now) {
  if (decision.indices.size() < 2 || node.stale || now - decision.time < kSettled) {
    return std::nullopt;
  }
  double most = 0;
  for (const int index : decision.indices) {
    const auto carried = node.carried.find(domain::ChipIndex{index});
    if (carried == node.carried.end()) return std::nullopt;
    most = std::max(most, carried->second);
  }
  return most;
}

}  // namespace chipweave::sched
