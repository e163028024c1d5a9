// ChangeSearch — the smallest changes that would let a waiting pod run: an agent that reports
// again, a chip that is healthy again, pods that end, a smaller request. One search for each
// question; the number of solver calls is bounded (limits::kMaxExplainTries). Changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

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
  ChangeSearch(const SchedulerState& state, Evaluator& evaluator)
      : state_(state), evaluator_(evaluator) {}

  // The easiest first, at most ten. names: the nodes that can be considered.
  std::vector<Change> easiest(const RequestContext& context,
                              const std::vector<std::string_view>& names);

 private:
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
  int tries_left_ = limits::kMaxExplainTries;
};

}  // namespace chipweave::sched
