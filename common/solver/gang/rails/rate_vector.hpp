// RateVector — what a gang needs of each of its nodes, or what the chips of a node offer: a rate
// inside the node and one for each rail, GB/s.
#pragma once

#include <compare>
#include <vector>

namespace chipweave::solver {

inline constexpr double kSameRate = 1e-6;  // GB/s; rates that differ by less are equal

struct RateVector {
  double chips = 0;           // inside the node; infinite for a single chip
  std::vector<double> rails;  // by number; infinite where the adapters are not known

  bool covers(const RateVector& need) const;
  double rail_sum() const;
  friend auto operator<=>(const RateVector&, const RateVector&) = default;
};
// The lesser of both in every rate.
RateVector meet(const RateVector& a, const RateVector& b);

}  // namespace chipweave::solver
