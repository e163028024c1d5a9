// Summary of a replay of gangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/simulate/gangs/gang_replay.hpp"
#include "common/solver/simulate/summary.hpp"

namespace chipweave::simulate {

// The gangs with more than half of so many chips, up to so many: a power of two.
struct GangSizeSummary {
  std::int64_t chips = 0;
  std::size_t arrived = 0;
  std::size_t started = 0;
  Distribution wait_s;  // of those that started
};

struct GangSummary {
  std::size_t arrived = 0;
  std::size_t started = 0;
  std::size_t never_fit = 0;
  std::size_t refused = 0;
  std::size_t waited = 0;  // started later than they came
  std::size_t most_waiting = 0;
  double used_until_last_arrival = 0;
  double used_until_end = 0;
  double end_s = 0;
  Distribution wait_s;                 // of those that started
  std::vector<GangSizeSummary> sizes;  // ascending
  std::vector<LevelSpread> levels;
  Distribution decision_ns;
};

GangSummary summary_of(const std::vector<domain::TraceGang>& gangs, const GangReplayed& run);

}  // namespace chipweave::simulate
