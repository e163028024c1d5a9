#include "common/solver/ranks/search/exact_order.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace chipweave::solver {
namespace {

// Positions ordered so that each has as much traffic as possible with those before it: costs show
// early.
std::vector<std::uint32_t> search_order(const OrderCost& order_cost) {
  const std::size_t n = order_cost.positions();
  std::vector<std::int64_t> pull(n, 0);
  std::vector<bool> taken(n, false);
  std::vector<std::uint32_t> out;
  while (out.size() < n) {
    std::size_t next = n;
    for (std::size_t p = 0; p < n; ++p) {
      if (!taken[p] && (next == n || pull[p] > pull[next])) next = p;
    }
    taken[next] = true;
    out.push_back(static_cast<std::uint32_t>(next));
    for (const auto& neighbour : order_cost.neighbours(next))
      pull[neighbour.position] += neighbour.weight;
  }
  return out;
}

// Branch and bound over positions. Lower bound: the cost of the placed pods plus, for every other
// position, the least that any pod would cost there in traffic with the placed ones.
class Search {
 public:
  Search(const OrderCost& order_cost, CostedArrangement& best)
      : places_(order_cost.places()), best_(best), positions_(search_order(order_cost)) {
    const std::size_t n = positions_.size();
    prices_.resize(places_.classes());
    for (PodClass a = 0; a < places_.classes(); ++a) {
      for (PodClass b = 0; b < places_.classes(); ++b) prices_[a].push_back(places_.price(a, b));
    }
    std::vector<std::size_t> turn(n);
    for (std::size_t i = 0; i < n; ++i) turn[positions_[i]] = i;
    later_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& neighbour : order_cost.neighbours(positions_[i])) {
        if (turn[neighbour.position] > i) later_[i].push_back(neighbour);
      }
    }
    at_.resize(n);
    bound_by_class_.resize(n, std::vector<std::int64_t>(places_.classes(), 0));
    least_.resize(n, 0);
    used_.resize(places_.domains().size(), 0);
  }

  bool run() && {
    extend(0, 0, 0);
    return left_ > 0;
  }

 private:
  // Symmetry breaking: of empty domains of one shape only the first may get the next pod.
  bool may_open(PodClass c) const {
    const auto& domains = places_.domains();
    const std::uint32_t leaf = places_.domain_of(c);
    if (used_[leaf] == domains[leaf].pods) return false;
    for (std::uint32_t d = leaf; d != kNoDomain; d = domains[d].parent) {
      if (used_[d] > 0) return true;
      if (domains[d].twin_before != kNoDomain && used_[domains[d].twin_before] == 0) return false;
    }
    return true;
  }

  void use(PodClass c, bool taken) {
    for (std::uint32_t d = places_.domain_of(c); d != kNoDomain; d = places_.domains()[d].parent)
      used_[d] = taken ? used_[d] + 1 : used_[d] - 1;
  }

  // The i-th position takes class c, or gives it back (sign -1). Returns by how much the lower
  // bound of the other positions rises.
  std::int64_t raise_bound(std::size_t i, PodClass c, std::int64_t sign) {
    const Steps steps = later_[i].size() * places_.classes() + 1;
    left_ = left_ > steps ? left_ - steps : 0;
    std::int64_t more = 0;
    for (const auto& neighbour : later_[i]) {
      std::vector<std::int64_t>& by_class = bound_by_class_[neighbour.position];
      for (PodClass of = 0; of < by_class.size(); ++of)
        by_class[of] += sign * neighbour.weight * prices_[c][of];
      const std::int64_t least = *std::min_element(by_class.begin(), by_class.end());
      more += least - least_[neighbour.position];
      least_[neighbour.position] = least;
    }
    return more;
  }

  // cost: of the placed pods; open: the lower bound of the other positions. Recursion: as deep as
  // there are pods, at most kMaxExactPods.
  void extend(std::size_t i, std::int64_t cost, std::int64_t open) {
    if (i == positions_.size()) {
      best_ = {cost, at_};
      return;
    }
    const std::uint32_t position = positions_[i];
    const std::int64_t others = open - least_[position];
    for (PodClass c = 0; c < places_.classes() && left_ > 0; ++c) {
      if (!may_open(c)) continue;
      const std::int64_t next = cost + bound_by_class_[position][c];
      if (next + others >= best_.cost) continue;
      const std::int64_t more = raise_bound(i, c, 1);
      if (next + others + more < best_.cost) {
        at_[position] = c;
        use(c, true);
        extend(i + 1, next, others + more);
        use(c, false);
      }
      raise_bound(i, c, -1);
    }
  }

  const PodPlaces& places_;
  CostedArrangement& best_;
  std::vector<std::uint32_t> positions_;                  // in the order of the search
  std::vector<std::vector<OrderCost::Neighbour>> later_;  // by that order: those placed later
  std::vector<std::vector<std::int64_t>> prices_;         // PodPlaces::price(), looked up
  Arrangement at_;
  // By position: what each class would cost there, and the minimum.
  std::vector<std::vector<std::int64_t>> bound_by_class_;
  std::vector<std::int64_t> least_;
  std::vector<std::size_t> used_;  // by domain: its pods with a position
  Steps left_ = kExactOrderSteps;
};

double log_factorial(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 2; i <= n; ++i) sum += std::log(static_cast<double>(i));
  return sum;
}

}  // namespace

bool few_arrangements(const PodPlaces& places) {
  if (places.pods() > kMaxExactPods) return false;
  double log_count = log_factorial(places.pods());
  for (PodClass c = 0; c < places.classes(); ++c)
    log_count -= log_factorial(places.members(c).size());
  // The k-th twin of a shape divides the rest by k, so k! in all.
  std::vector<double> twins(places.domains().size(), 1);
  for (std::size_t i = 0; i < places.domains().size(); ++i) {
    const std::uint32_t before = places.domains()[i].twin_before;
    if (before == kNoDomain) continue;
    twins[i] = twins[before] + 1;
    log_count -= std::log(twins[i]);
  }
  return log_count <= std::log(kMaxArrangements);
}

bool lower_to_least(const OrderCost& order_cost, CostedArrangement& best) {
  return Search(order_cost, best).run();
}

}  // namespace chipweave::solver
