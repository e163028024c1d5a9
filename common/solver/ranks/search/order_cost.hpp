// OrderCost — the cost of an arrangement of pods for a job's traffic, in total and as the change by
// one swap. Leaves out what no order can change, so it only compares arrangements of the same pods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/search/pod_places.hpp"

namespace chipweave::solver {

class OrderCost {
 public:
  struct Neighbour {
    std::uint32_t position = 0;
    std::int64_t weight = 0;
  };

  // places and traffic must outlive it and have the same number of pods.
  OrderCost(const PodPlaces& places, const PodTraffic& traffic);

  const PodPlaces& places() const { return places_; }
  std::size_t positions() const { return places_.pods(); }
  std::span<const Neighbour> neighbours(std::size_t position) const {
    return {neighbours_.data() + begin_[position], begin_[position + 1] - begin_[position]};
  }

  std::int64_t cost(const Arrangement& at) const;
  Steps cost_steps() const { return traffic_.edges.size() + 1; }
  // The cost of the edges of one position.
  std::int64_t cost_of(const Arrangement& at, std::size_t position) const;
  // The change of the total cost by exchanging two positions; 0 for two of one class.
  std::int64_t swap_change(const Arrangement& at, std::size_t p, std::size_t q) const;
  Steps swap_steps(std::size_t p, std::size_t q) const {
    return neighbours(p).size() + neighbours(q).size() + 1;
  }

 private:
  std::int64_t move_change(const Arrangement& at, std::size_t p, PodClass to,
                           std::size_t but) const;

  const PodPlaces& places_;
  const PodTraffic& traffic_;
  std::vector<std::size_t> begin_;  // by position: of its neighbours; one more at the end
  std::vector<Neighbour> neighbours_;
};

}  // namespace chipweave::solver
