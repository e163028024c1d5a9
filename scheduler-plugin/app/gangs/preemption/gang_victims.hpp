// GangVictims — which units must end so that a gang fits.
//
// Cost of a set, compared in this order: the highest priority of its pods; the number of gangs that
// it breaks; the number of pods; the sum of their priorities. The search finds
// 1. the lowest priority up to which all candidates together are enough (binary search), which is
//    the first part of the cost of the cheapest set unless budgets keep that from being used;
// 2. below it, a set in which no unit can be left out: by leaving out one after the other (reverse
//    deletion), in several orders, of which the cheapest result counts. What exceeds a budget is
//    left out first, then gangs, then single pods of nodes that many candidates share.
// Both rely on this: what is enough stays enough if more comes free. A set that no budget allows is
// never the result. With more than kMany candidates there is one order, and from the first plan
// without needless gangs on only single pods on its nodes count.
//
// It does not plan: it asks whether the gang fits if certain units end, one question at a time, so
// that its owner can go on later. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scheduler-plugin/app/gangs/preemption/victim_units.hpp"

namespace chipweave::sched {

struct VictimCost {
  int priority = std::numeric_limits<int>::min();  // the highest
  std::size_t gangs = 0;                           // that are broken
  std::size_t pods = 0;
  std::int64_t sum = 0;  // of priorities
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
};

class GangVictims {
 public:
  static constexpr std::size_t kMany = 200;
  using Set = std::vector<std::size_t>;  // units, ascending

  // allowed: by budget, how many of its pods may be evicted. Each unit alone is within that.
  GangVictims(std::vector<VictimUnit> units, std::vector<int> allowed);

  // Whether the gang fits if exactly these end is to be answered next; null: the search is over.
  const Set* question() const { return over_ ? nullptr : &asked_; }
  // nodes: those of a plan with these units gone, ascending; nullopt: the gang does not fit.
  void answer(const std::optional<std::vector<NodeId>>& nodes);

  // Once it is over. nullopt: there is no such set.
  const std::optional<Set>& result() const { return best_; }
  const std::vector<VictimUnit>& units() const { return units_; }
  VictimCost cost_of(const Set& set) const;

 private:
  enum class Stage { nothing, everything, level, within_budgets, leave_out };
  static constexpr int kOrders = 3;

  Set up_to(std::size_t level) const;
  // By budget: how many pods of the set are too many.
  std::vector<std::int64_t> excess() const;
  std::vector<std::size_t> order(int number) const;
  void begin_order();
  void next_order();
  void go_on();
  bool ask_within_budgets();
  void ask_without(std::size_t count);
  void left_out(bool fits, const std::vector<NodeId>& nodes);
  void keep_to(const std::vector<NodeId>& nodes);

  std::vector<VictimUnit> units_;
  std::vector<int> allowed_;
  std::vector<int> levels_;  // distinct priorities, ascending
  Stage stage_ = Stage::nothing;
  bool over_ = false;
  Set asked_;
  std::size_t low_ = 0;  // of the binary search: levels below it are not enough
  std::size_t high_ = 0;
  int order_ = 0;
  std::vector<std::vector<std::size_t>> tried_orders_;
  std::vector<bool> in_set_;       // by unit
  std::vector<std::size_t> left_;  // that may still be left out, in this order
  std::size_t count_ = 0;          // of those in question
  std::size_t step_ = 1;           // how many to leave out at once
  std::optional<Set> best_;
};

}  // namespace chipweave::sched
