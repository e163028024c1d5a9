#include "common/solver/ranks/search/order_improver.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::solver {
namespace {

// Up to so many positions every pair is tried; above, only positions with an expensive neighbour,
// with those of the neighbour's home.
constexpr std::size_t kAllPairs = 64;
constexpr std::size_t kHomePods = 4;

// The classes along the layout.
std::vector<PodClass> row_of(const Arrangement& at, const Layout& layout) {
  std::vector<PodClass> out;
  out.reserve(at.size());
  for (const std::uint32_t position : layout.positions) out.push_back(at[position]);
  return out;
}

// Where runs of one class begin; the length of the row at the end.
std::vector<std::size_t> run_starts(const std::vector<PodClass>& row) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i == 0 || row[i] != row[i - 1]) out.push_back(i);
  }
  out.push_back(row.size());
  return out;
}

}  // namespace

OrderImprover::OrderImprover(const OrderCost& order_cost, Steps steps)
    : order_cost_(order_cost), left_(steps) {
  const PodPlaces& places = order_cost.places();
  for (PodClass c = 0; c < places.classes(); ++c) {
    std::uint32_t home = places.domain_of(c);
    while (places.domains()[home].pods < kHomePods && places.domains()[home].parent != kNoDomain)
      home = places.domains()[home].parent;
    home_.push_back(home);
  }
}

OrderImprover::Index OrderImprover::index_of(const Arrangement& at) const {
  Index out;
  out.of_home.resize(order_cost_.places().domains().size());
  for (std::size_t p = 0; p < at.size(); ++p) {
    auto& list = out.of_home[home_[at[p]]];
    out.place.push_back(static_cast<std::uint32_t>(list.size()));
    list.push_back(static_cast<std::uint32_t>(p));
  }
  return out;
}

void OrderImprover::exchange(Arrangement& at, Index& index, std::size_t p, std::size_t q) const {
  index.of_home[home_[at[p]]][index.place[p]] = static_cast<std::uint32_t>(q);
  index.of_home[home_[at[q]]][index.place[q]] = static_cast<std::uint32_t>(p);
  std::swap(index.place[p], index.place[q]);
  std::swap(at[p], at[q]);
}

bool OrderImprover::spend(Steps steps) {
  if (left_ < steps) {
    left_ = 0;
    return false;
  }
  left_ -= steps;
  return true;
}

void OrderImprover::descend(CostedArrangement& arrangement, const Layout& layout) {
  while (arrangement.cost > 0 && (swaps(arrangement) || moves(arrangement, layout))) {
  }
}

// Passes over all positions until one does not help. Returns whether any did.
bool OrderImprover::swaps(CostedArrangement& arrangement) {
  if (!spend(arrangement.at.size())) return false;
  Index index = index_of(arrangement.at);
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t p = 0; p < arrangement.at.size(); ++p) {
      if (!spend(order_cost_.neighbours(p).size() + 1)) return any;
      if (order_cost_.cost_of(arrangement.at, p) == 0) continue;
      while (swap_one(arrangement, index, p)) again = any = true;
    }
  }
  return any;
}

bool OrderImprover::swap_one(CostedArrangement& arrangement, Index& index, std::size_t p) {
  const Arrangement& at = arrangement.at;
  if (at.size() <= kAllPairs) {
    for (std::uint32_t home = 0; home < index.of_home.size(); ++home) {
      if (swap_into(arrangement, index, p, home)) return true;
    }
    return false;
  }
  std::vector<std::uint32_t> tried;
  for (const OrderCost::Neighbour& n : order_cost_.neighbours(p)) {
    if (at[n.position] == at[p]) continue;
    const std::uint32_t home = home_[at[n.position]];
    if (std::find(tried.begin(), tried.end(), home) != tried.end()) continue;
    tried.push_back(home);
    if (swap_into(arrangement, index, p, home)) return true;
  }
  return false;
}

// Exchanges p with the first position of that home that lowers the cost.
bool OrderImprover::swap_into(CostedArrangement& arrangement, Index& index, std::size_t p,
                              std::uint32_t home) {
  for (const std::uint32_t q : index.of_home[home]) {
    if (arrangement.at[q] == arrangement.at[p]) continue;
    if (!spend(order_cost_.swap_steps(p, q))) return false;
    const std::int64_t change = order_cost_.swap_change(arrangement.at, p, q);
    if (change >= 0) continue;
    exchange(arrangement.at, index, p, q);
    arrangement.cost += change;
    return true;
  }
  return false;
}

bool OrderImprover::moves(CostedArrangement& arrangement, const Layout& layout) {
  bool any = false;
  for (const std::size_t unit : layout.units) any = block_swaps(arrangement, layout, unit) || any;
  return run_moves(arrangement, layout) || any;
}

bool OrderImprover::take_if_cheaper(CostedArrangement& arrangement, const Layout& layout,
                                    const std::vector<PodClass>& row) {
  Arrangement at = arranged(layout, row);
  const std::int64_t cost = order_cost_.cost(at);
  if (cost >= arrangement.cost) return false;
  arrangement = {cost, std::move(at)};
  return true;
}

bool OrderImprover::block_swaps(CostedArrangement& arrangement, const Layout& layout,
                                std::size_t unit) {
  bool any = false;
  std::vector<PodClass> row = row_of(arrangement.at, layout);
  for (std::size_t i = 0; i + unit < row.size(); i += unit) {
    for (std::size_t j = i + unit; j < row.size(); j += unit) {
      const auto first = row.begin() + static_cast<std::ptrdiff_t>(i);
      const auto second = row.begin() + static_cast<std::ptrdiff_t>(j);
      const auto length = static_cast<std::ptrdiff_t>(unit);
      if (!spend(1 + unit)) return any;
      if (std::equal(first, first + length, second)) continue;
      if (!spend(row.size() + order_cost_.cost_steps())) return any;
      std::swap_ranges(first, first + length, second);
      if (take_if_cheaper(arrangement, layout, row)) {
        any = true;
      } else {
        std::swap_ranges(first, first + length, second);
      }
    }
  }
  return any;
}

// Moves a run of one class to the beginning of another run; those in between shift.
bool OrderImprover::run_moves(CostedArrangement& arrangement, const Layout& layout) {
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    const std::vector<PodClass> row = row_of(arrangement.at, layout);
    const std::vector<std::size_t> starts = run_starts(row);
    for (std::size_t i = 0; i + 1 < starts.size() && !again; ++i) {
      for (std::size_t j = 0; j < starts.size() && !again; ++j) {
        if (j == i || j == i + 1) continue;
        if (!spend(row.size() + order_cost_.cost_steps())) return any;
        std::vector<PodClass> moved = row;
        const auto at = [&](std::size_t k) {
          return moved.begin() + static_cast<std::ptrdiff_t>(starts[k]);
        };
        if (j < i) {
          std::rotate(at(j), at(i), at(i + 1));
        } else {
          std::rotate(at(i), at(i + 1), at(j));
        }
        again = take_if_cheaper(arrangement, layout, moved);
      }
    }
    any = any || again;
  }
  return any;
}

void OrderImprover::perturb(CostedArrangement& best, const Layout& layout) {
  while (best.cost > 0 && !budget_exhausted()) {
    CostedArrangement next = best;
    const std::size_t swaps = 2 + random(3);
    for (std::size_t k = 0; k < swaps; ++k)
      std::swap(next.at[random(next.at.size())], next.at[random(next.at.size())]);
    if (!spend(next.at.size() + order_cost_.cost_steps())) return;
    next.cost = order_cost_.cost(next.at);
    descend(next, layout);
    if (next.cost < best.cost) best = std::move(next);
  }
}

// Knuth's linear congruential generator: the same numbers for the same request everywhere.
std::size_t OrderImprover::random(std::size_t below) {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<std::size_t>((state_ >> 33U) % below);
}

}  // namespace chipweave::solver
