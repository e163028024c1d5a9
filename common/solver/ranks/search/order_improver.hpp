// OrderImprover — makes an arrangement cheaper step by step, for as many counted steps as it may
// take: pairs of positions change places; blocks and runs along a layout move; and when nothing of
// that helps, a few random swaps, of fixed seed, start it anew from the best.
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/order_judge.hpp"
#include "common/solver/ranks/search/order_layouts.hpp"

namespace chipweave::solver {

struct JudgedArrangement {
  std::int64_t cost = 0;
  Arrangement at;
};

class OrderImprover {
 public:
  OrderImprover(const OrderJudge& judge, Steps steps);

  bool out_of_steps() const { return left_ == 0; }
  // Until neither a swap nor a move along the layout helps. Never dearer than before.
  void descend(JudgedArrangement& arrangement, const Layout& layout);
  // Until the steps are used up.
  void shake(JudgedArrangement& best, const Layout& layout);

 private:
  // Positions of a home, and where each position stands in its home's list.
  struct Index {
    std::vector<std::vector<std::uint32_t>> of_home;  // by number of the domain
    std::vector<std::uint32_t> place;
  };
  Index index_of(const Arrangement& at) const;
  void exchange(Arrangement& at, Index& index, std::size_t p, std::size_t q) const;

  bool pay(Steps steps);
  bool swaps(JudgedArrangement& arrangement);
  bool swap_one(JudgedArrangement& arrangement, Index& index, std::size_t p);
  bool swap_into(JudgedArrangement& arrangement, Index& index, std::size_t p, std::uint32_t home);
  bool moves(JudgedArrangement& arrangement, const Layout& layout);
  bool block_swaps(JudgedArrangement& arrangement, const Layout& layout, std::size_t unit);
  bool run_moves(JudgedArrangement& arrangement, const Layout& layout);
  bool take_if_cheaper(JudgedArrangement& arrangement, const Layout& layout,
                       const std::vector<PodClass>& row);
  std::size_t random(std::size_t below);

  const OrderJudge& judge_;
  // By class: the smallest domain around it that has a few pods, so that there is a choice of whom
  // to change places with.
  std::vector<std::uint32_t> home_;
  Steps left_;
  std::uint64_t state_ = 1;
};

}  // namespace chipweave::solver
