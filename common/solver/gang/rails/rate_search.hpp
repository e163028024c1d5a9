// RateSearch — what a gang can need of every node that it uses, best first.
//
// A plan over several nodes runs at min(chips, sum over its common rails, levels), so it is as fast
// as the meet of what its nodes offer: in each rate the least one. The search starts with the
// offers themselves, and where no plan meets one, goes on with its meets with the others. A meet is
// never better than what it was made of: the first need that some plan meets is the best one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "common/solver/gang/rails/rate_vector.hpp"

namespace chipweave::solver {

inline constexpr std::size_t kMaxNeeds = 4096;  // tried; beyond, the plan stays as it is

// GB/s of a gang whose nodes offer these rates at least: over one node the chips', over several
// also the rails'. Infinite where nothing limits it.
double gbps_of(const RateVector& rates, bool several_nodes);

class RateSearch {
 public:
  // level_gbps: no plan is faster, whatever its nodes offer.
  RateSearch(std::vector<RateVector> offers, bool several_nodes, double level_gbps);

  // The first need above `floor` GB/s that `meets` accepts; of equally fast ones that with more
  // rails comes first. nullopt: none is accepted.
  std::optional<RateVector> best(double floor, const std::function<bool(const RateVector&)>& meets);
  bool exhausted() const { return exhausted_; }

 private:
  double value(const RateVector& rates) const;

  std::vector<RateVector> offers_;  // distinct
  bool several_nodes_;
  double level_gbps_;
  bool exhausted_ = false;
};

}  // namespace chipweave::solver
