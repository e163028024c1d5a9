#include "common/solver/ranks/search/order_cost.hpp"

namespace chipweave::solver {

OrderCost::OrderCost(const PodPlaces& places, const PodTraffic& traffic)
    : places_(places), traffic_(traffic), begin_(places.pods() + 1, 0) {
  for (const PodEdge& edge : traffic.edges) {
    ++begin_[edge.a + 1];
    ++begin_[edge.b + 1];
  }
  for (std::size_t p = 1; p < begin_.size(); ++p) begin_[p] += begin_[p - 1];
  neighbours_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const PodEdge& edge : traffic.edges) {
    neighbours_[next[edge.a]++] = {edge.b, edge.weight};
    neighbours_[next[edge.b]++] = {edge.a, edge.weight};
  }
}

std::int64_t OrderCost::cost(const Arrangement& at) const {
  std::int64_t sum = 0;
  for (const PodEdge& edge : traffic_.edges)
    sum += edge.weight * places_.price(at[edge.a], at[edge.b]);
  return sum;
}

std::int64_t OrderCost::cost_of(const Arrangement& at, std::size_t position) const {
  std::int64_t sum = 0;
  for (const Neighbour& n : neighbours(position))
    sum += n.weight * places_.price(at[position], at[n.position]);
  return sum;
}

std::int64_t OrderCost::move_change(const Arrangement& at, std::size_t p, PodClass to,
                                    std::size_t but) const {
  std::int64_t sum = 0;
  for (const Neighbour& n : neighbours(p)) {
    if (n.position == but) continue;
    const PodClass other = at[n.position];
    sum += n.weight * (places_.price(to, other) - places_.price(at[p], other));
  }
  return sum;
}

std::int64_t OrderCost::swap_change(const Arrangement& at, std::size_t p, std::size_t q) const {
  if (at[p] == at[q]) return 0;
  return move_change(at, p, at[q], q) + move_change(at, q, at[p], p);
}

}  // namespace chipweave::solver
