// ChangeSearch — the smallest changes that would let a waiting pod run: an agent that reports
// again, a chip that is healthy again, pods that end, a smaller request. One search for each
// question; the number of solver calls (limits::kMaxExplainTries) and the time
// (kMaxTime) are bounded. Changes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/limits.hpp"
#include "scheduler-plugin/app/evaluator.hpp"

namespace chipweave::sched {

// Something that would let the pod run; a smaller weight is easier.
struct Change {
  int weight = 0;
  std::string kind;
  std::string node;
  std::string text;
};

// "1 chip", "8 chips"
std::string chips_word(int n);

class ChangeSearch {
 public:
  static constexpr std::chrono::milliseconds kMaxTime{10};

  ChangeSearch(const SchedulerState& state, Evaluator& evaluator, const Clock& clock)
      : state_(state), evaluator_(evaluator), clock_(clock), until_(clock.now() + kMaxTime) {}

  // The easiest first, at most ten. names: the nodes that can be considered.
  std::vector<Change> easiest(const RequestContext& context,
                              const std::vector<std::string_view>& names);
  // Whether easiest() could look at everything.
  bool complete() const { return !budget_exhausted_; }

 private:
  bool budget_exhausted();
  bool fits(const RequestContext& context, const NodeState& state, ChipSet beside);
  void collect(const RequestContext& context, const std::vector<std::string_view>& names);
  void repairs(const RequestContext& context, const NodeState& state, ChipSet beside,
               const std::string& node);
  void departures(const RequestContext& context, StateId state_id, ChipSet beside, NodeId id);
  static int least_weight(const RequestContext& context, const NodeState& state,
                          const std::vector<const Holding*>& holders);
  bool worth(int weight) const;
  void add_ending(Change change);
  bool smaller_group(const RequestContext& context, const NodeState& state, ChipSet beside,
                     const std::string& node);

  const SchedulerState& state_;
  Evaluator& evaluator_;
  std::vector<Change> changes_;
  std::multiset<int> endings_;  // weights of the easiest departures so far
  std::map<std::tuple<StateId, std::uint64_t, std::uint64_t>, bool> without_;
  const Clock& clock_;
  Clock::Steady until_;
  int tries_left_ = limits::kMaxExplainTries;
  bool budget_exhausted_ = false;
};

}  // namespace chipweave::sched
