// OrderImprover — local search on an arrangement within a budget of counted steps: swaps of
// positions, moves of blocks and runs along a layout, and, when none of these helps, perturbation
// of the best one by a few pseudo-random swaps (fixed seed).
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/order_cost.hpp"
#include "common/solver/ranks/search/order_layouts.hpp"

namespace chipweave::solver {

struct CostedArrangement {
  std::int64_t cost = 0;
  Arrangement at;
};

class OrderImprover {
 public:
  OrderImprover(const OrderCost& order_cost, Steps steps);

  bool budget_exhausted() const { return left_ == 0; }
  // Descends until neither a swap nor a move along the layout helps. Never raises the cost.
  void descend(CostedArrangement& arrangement, const Layout& layout);
  // Perturbs and descends until the budget is exhausted.
  void perturb(CostedArrangement& best, const Layout& layout);

 private:
  // The positions of each home, and the index of each position in its home's list.
  struct Index {
    std::vector<std::vector<std::uint32_t>> of_home;  // by number of the domain
    std::vector<std::uint32_t> place;
  };
  Index index_of(const Arrangement& at) const;
  void exchange(Arrangement& at, Index& index, std::size_t p, std::size_t q) const;

  bool spend(Steps steps);
  bool swaps(CostedArrangement& arrangement);
  bool swap_one(CostedArrangement& arrangement, Index& index, std::size_t p);
  bool swap_into(CostedArrangement& arrangement, Index& index, std::size_t p, std::uint32_t home);
  bool moves(CostedArrangement& arrangement, const Layout& layout);
  bool block_swaps(CostedArrangement& arrangement, const Layout& layout, std::size_t unit);
  bool run_moves(CostedArrangement& arrangement, const Layout& layout);
  bool take_if_cheaper(CostedArrangement& arrangement, const Layout& layout,
                       const std::vector<PodClass>& row);
  std::size_t random(std::size_t below);

  const OrderCost& order_cost_;
  // By class: the smallest domain around it with a few pods to swap with.
  std::vector<std::uint32_t> home_;
  Steps left_;
  std::uint64_t state_ = 1;
};

}  // namespace chipweave::solver
