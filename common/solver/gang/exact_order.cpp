#include "common/solver/gang/exact_order.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace chipweave::solver {
namespace {

// Positions so that each has as much as possible to do with those before it: costs show early.
std::vector<std::uint32_t> search_order(const OrderJudge& judge) {
  const std::size_t n = judge.positions();
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
    for (const auto& neighbour : judge.neighbours(next))
      pull[neighbour.position] += neighbour.weight;
  }
  return out;
}

class Search {
 public:
  Search(const OrderJudge& judge, JudgedArrangement& best)
      : judge_(judge), places_(judge.places()), best_(best), positions_(search_order(judge)) {
    std::vector<std::size_t> rank(positions_.size());
    for (std::size_t i = 0; i < positions_.size(); ++i) rank[positions_[i]] = i;
    before_.resize(positions_.size());
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      for (const auto& neighbour : judge.neighbours(positions_[i])) {
        if (rank[neighbour.position] < i) before_[i].push_back(neighbour);
      }
    }
    at_.resize(positions_.size());
    used_.resize(places_.domains().size(), 0);
  }

  bool run() && {
    extend(0, 0);
    return left_ > 0;
  }

 private:
  // Of domains of one shape that are all empty only the first may get the next pod.
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

  std::int64_t added(std::size_t i, PodClass c) {
    const Steps steps = before_[i].size() + 1;
    left_ = left_ > steps ? left_ - steps : 0;
    std::int64_t sum = 0;
    for (const auto& neighbour : before_[i])
      sum += neighbour.weight * places_.price(c, at_[neighbour.position]);
    return sum;
  }

  // Recursion: as deep as there are pods, kMostExactPods.
  void extend(std::size_t i, std::int64_t cost) {
    if (i == positions_.size()) {
      best_ = {cost, at_};
      return;
    }
    for (PodClass c = 0; c < places_.classes() && left_ > 0; ++c) {
      if (!may_open(c)) continue;
      const std::int64_t next = cost + added(i, c);
      if (next >= best_.cost) continue;
      at_[positions_[i]] = c;
      use(c, true);
      extend(i + 1, next);
      use(c, false);
    }
  }

  const OrderJudge& judge_;
  const PodPlaces& places_;
  JudgedArrangement& best_;
  std::vector<std::uint32_t> positions_;                    // in the order of the search
  std::vector<std::vector<OrderJudge::Neighbour>> before_;  // by that order: already placed
  Arrangement at_;
  std::vector<std::size_t> used_;  // by domain: its pods that have a position
  Steps left_ = kExactOrderSteps;
};

double log_factorial(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 2; i <= n; ++i) sum += std::log(static_cast<double>(i));
  return sum;
}

}  // namespace

bool few_arrangements(const PodPlaces& places) {
  if (places.pods() > kMostExactPods) return false;
  double log_count = log_factorial(places.pods());
  for (PodClass c = 0; c < places.classes(); ++c)
    log_count -= log_factorial(places.members(c).size());
  // The k-th twin of a shape halves, thirds … what is left: k! in all.
  std::vector<double> twins(places.domains().size(), 1);
  for (std::size_t i = 0; i < places.domains().size(); ++i) {
    const std::uint32_t before = places.domains()[i].twin_before;
    if (before == kNoDomain) continue;
    twins[i] = twins[before] + 1;
    log_count -= std::log(twins[i]);
  }
  return log_count <= std::log(kMostArrangements);
}

bool lower_to_least(const OrderJudge& judge, JudgedArrangement& best) {
  return Search(judge, best).run();
}

}  // namespace chipweave::solver
