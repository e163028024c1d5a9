#include "common/solver/gang/rails/rate_vector.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace chipweave::solver {

bool RateVector::covers(const RateVector& need) const {
  if (chips < need.chips - kSameRate) return false;
  for (std::size_t r = 0; r < need.rails.size(); ++r) {
    if (rails[r] < need.rails[r] - kSameRate) return false;
  }
  return true;
}

double RateVector::rail_sum() const { return std::accumulate(rails.begin(), rails.end(), 0.0); }

RateVector meet(const RateVector& a, const RateVector& b) {
  RateVector out{std::min(a.chips, b.chips), a.rails};
  for (std::size_t r = 0; r < out.rails.size(); ++r)
    out.rails[r] = std::min(out.rails[r], b.rails[r]);
  return out;
}

}  // namespace chipweave::solver
