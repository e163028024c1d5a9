#include "common/solver/ranks/completed_order.hpp"

#include <algorithm>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/ranks/search/order_cost.hpp"
#include "common/solver/ranks/search/order_improver.hpp"
#include "common/solver/ranks/search/pod_places.hpp"

namespace chipweave::solver {
namespace {

constexpr std::size_t kMaxPermutedPods = 8;

// Positions without a pod, and the arrangement of all pods.
struct Completion {
  std::vector<std::size_t> open;  // ascending
  CostedArrangement arrangement;
};

class OrderCompleter {
 public:
  OrderCompleter(std::size_t levels, const std::vector<RankPath>& pods,
                 const std::vector<std::optional<std::size_t>>& fixed, const PodTraffic& traffic)
      : fixed_(fixed), places_(levels, pods), order_cost_(places_, traffic) {}

  WeightedOrder complete() {
    Completion best = filled();
    bool optimal = best.arrangement.cost == 0 || best.open.size() < 2;
    if (!optimal) optimal = best.open.size() <= kMaxPermutedPods && permute(best);
    if (!optimal) descend(best);
    return {pods_of(best), optimal || best.arrangement.cost == 0};
  }

 private:
  // The pods that have no position fill the open ones depth-first.
  Completion filled() const {
    Completion out;
    Arrangement& at = out.arrangement.at;
    at.assign(places_.pods(), 0);
    std::vector<bool> taken(places_.pods(), false);
    for (PodClass c = 0; c < places_.classes(); ++c) {
      for (const std::size_t pod : places_.members(c)) {
        if (!fixed_[pod]) continue;
        at[*fixed_[pod]] = c;
        taken[*fixed_[pod]] = true;
      }
    }
    for (std::size_t p = 0; p < taken.size(); ++p)
      if (!taken[p]) out.open.push_back(p);
    std::size_t next = 0;
    for (PodClass c = 0; c < places_.classes(); ++c) {
      for (const std::size_t pod : places_.members(c))
        if (!fixed_[pod]) at[out.open[next++]] = c;
    }
    out.arrangement.cost = order_cost_.cost(at);
    return out;
  }

  bool spend(Steps steps) {
    if (left_ < steps) return false;
    left_ -= steps;
    return true;
  }

  // All arrangements of the open positions; false: the budget was exhausted.
  bool permute(Completion& best) {
    std::vector<PodClass> classes;
    for (const std::size_t p : best.open) classes.push_back(best.arrangement.at[p]);
    std::sort(classes.begin(), classes.end());
    CostedArrangement tried = best.arrangement;
    do {
      if (!spend(order_cost_.cost_steps())) return false;
      for (std::size_t i = 0; i < classes.size(); ++i) tried.at[best.open[i]] = classes[i];
      tried.cost = order_cost_.cost(tried.at);
      if (tried.cost < best.arrangement.cost) best.arrangement = tried;
    } while (std::next_permutation(classes.begin(), classes.end()));
    return true;
  }

  // Exchanges pairs of open positions while that helps.
  void descend(Completion& best) {
    Arrangement& at = best.arrangement.at;
    for (bool helped = true; helped;) {
      helped = false;
      for (std::size_t i = 0; i < best.open.size(); ++i) {
        for (std::size_t j = i + 1; j < best.open.size(); ++j) {
          const std::size_t p = best.open[i];
          const std::size_t q = best.open[j];
          if (at[p] == at[q]) continue;
          if (!spend(order_cost_.swap_steps(p, q))) return;
          const std::int64_t change = order_cost_.swap_change(at, p, q);
          if (change >= 0) continue;
          std::swap(at[p], at[q]);
          best.arrangement.cost += change;
          helped = true;
        }
      }
    }
  }

  std::vector<std::size_t> pods_of(const Completion& best) const {
    std::vector<std::vector<std::size_t>> free(places_.classes());
    for (PodClass c = 0; c < places_.classes(); ++c) {
      for (const std::size_t pod : places_.members(c))
        if (!fixed_[pod]) free[c].push_back(pod);
      std::reverse(free[c].begin(), free[c].end());  // the first one is taken from the back
    }
    std::vector<std::size_t> out(places_.pods());
    for (std::size_t pod = 0; pod < fixed_.size(); ++pod)
      if (fixed_[pod]) out[*fixed_[pod]] = pod;
    for (const std::size_t p : best.open) {
      std::vector<std::size_t>& of_class = free[best.arrangement.at[p]];
      out[p] = of_class.back();
      of_class.pop_back();
    }
    return out;
  }

  const std::vector<std::optional<std::size_t>>& fixed_;
  PodPlaces places_;
  OrderCost order_cost_;
  Steps left_ = kCompletedOrderSteps;
};

}  // namespace

WeightedOrder completed_order(std::size_t levels, const std::vector<RankPath>& pods,
                              const std::vector<std::optional<std::size_t>>& fixed,
                              const PodTraffic& traffic) {
  if (pods.empty()) return {{}, true};
  return OrderCompleter(levels, pods, fixed, traffic).complete();
}

}  // namespace chipweave::solver
