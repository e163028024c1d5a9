// Room — CPU and memory of a node or a pod, as coarse as the choice among nodes needs it: nodes
// that differ by less are alike.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

namespace chipweave::solver {

struct Room {
  bool known = false;  // false: nothing is known, and any pod may fit
  std::int32_t cores = 0;
  std::int32_t gib = 0;

  // Of a node: what is certainly there. Amounts below 0 count as 0.
  static Room offered(std::int64_t cpu_milli, std::int64_t memory_mib) {
    return {true, units(std::max<std::int64_t>(cpu_milli, 0) / kMilli),
            units(std::max<std::int64_t>(memory_mib, 0) / kMib)};
  }
  // Of a pod: what is certainly enough.
  static Room needed(std::int64_t cpu_milli, std::int64_t memory_mib) {
    return {true, up(cpu_milli, kMilli), up(memory_mib, kMib)};
  }
  // What a pod leaves.
  Room without(const Room& pod) const {
    return {known, std::max(cores - pod.cores, 0), std::max(gib - pod.gib, 0)};
  }
  bool fits(const Room& pod) const { return !known || (pod.cores <= cores && pod.gib <= gib); }
  // Of so many pods.
  Room times(int pods) const {
    return {known, units(std::int64_t{cores} * pods), units(std::int64_t{gib} * pods)};
  }
  friend auto operator<=>(const Room&, const Room&) = default;

 private:
  static constexpr std::int64_t kMilli = 1000;
  static constexpr std::int64_t kMib = 1024;
  static constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max() / 2;
  static std::int32_t units(std::int64_t n) { return static_cast<std::int32_t>(std::min(n, kMax)); }
  static std::int32_t up(std::int64_t amount, std::int64_t unit) {
    amount = std::max<std::int64_t>(amount, 0);
    return units(amount / unit + (amount % unit != 0 ? 1 : 0));
  }
};

}  // namespace chipweave::solver
