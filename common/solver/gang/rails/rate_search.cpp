#include "common/solver/gang/rails/rate_search.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace chipweave::solver {
namespace {

struct Need {
  double gbps = 0;
  double rails = 0;
  RateVector rates;
  // In a priority queue the best one is on top; of equal ones that with the larger rates.
  bool operator<(const Need& other) const {
    return std::tie(gbps, rails, rates) < std::tie(other.gbps, other.rails, other.rates);
  }
};

}  // namespace

double gbps_of(const RateVector& rates, bool several_nodes) {
  return several_nodes && !rates.rails.empty() ? std::min(rates.chips, rates.rail_sum())
                                               : rates.chips;
}

RateSearch::RateSearch(std::vector<RateVector> offers, bool several_nodes, double level_gbps)
    : offers_(std::move(offers)), several_nodes_(several_nodes), level_gbps_(level_gbps) {
  std::sort(offers_.begin(), offers_.end());
  offers_.erase(std::unique(offers_.begin(), offers_.end()), offers_.end());
}

double RateSearch::value(const RateVector& rates) const {
  return std::min(gbps_of(rates, several_nodes_), level_gbps_);
}

std::optional<RateVector> RateSearch::best(double floor,
                                           const std::function<bool(const RateVector&)>& meets) {
  std::priority_queue<Need> needs;
  std::set<RateVector> seen;
  const auto add = [&](const RateVector& rates) {
    const double gbps = value(rates);
    if (gbps <= floor + kSameRate || !seen.insert(rates).second) return;
    needs.push({gbps, rates.rail_sum(), rates});
  };
  for (const RateVector& offer : offers_) add(offer);
  while (!needs.empty()) {
    const RateVector rates = needs.top().rates;
    needs.pop();
    if (meets(rates)) return rates;
    if (seen.size() > kMaxNeeds) {
      exhausted_ = true;
      return std::nullopt;
    }
    for (const RateVector& offer : offers_) {
      if (!offer.covers(rates)) add(meet(rates, offer));
    }
  }
  return std::nullopt;
}

}  // namespace chipweave::solver
