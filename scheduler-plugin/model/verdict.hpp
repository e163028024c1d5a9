// Verdict — whether a node fits a request, how well, and if not, why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/solver/nodes/node_score.hpp"
#include "scheduler-plugin/model/node_id.hpp"

namespace chipweave::sched {

// Why a node was rejected, coarse enough for a metric label.
enum class Cause {
  none,
  unknown_node,
  stale,
  closed,
  resource,
  size,
  busy,
  unhealthy,
  rule,
  group,
  gang,
  binding
};
inline constexpr int kCauseCount = 12;
std::string_view to_string(Cause cause);

// What could let the pod run on the node.
enum class Remedy {
  none,         // it fits
  preemption,   // the end of other pods there
  time,         // not that: a repair, a report of the agent, or the outcome of a binding
  unresolvable  // nothing: the machine cannot hold such a pod
};

struct Verdict {
  // In the current evaluation: how many nodes got it, and the first of them in natural name order.
  std::size_t count = 0;
  NodeId first = kNoNode;
  std::uint32_t first_order = ~std::uint32_t{0};
  int level = 0;  // score of a node that is not the best
  solver::ScoreInput score;

  Cause cause = Cause::none;  // none: it fits
  Remedy remedy = Remedy::none;
  solver::NodeOffer offer;  // what the pod would get, and what it would leave
  double best_gbps = 0;
  int far = 0;  // ScoreInput::far, and so on
  int other_leaves = 0;
  int breaks = 0;
  std::string reason;  // message; the same for the same cause on every node

  bool fits() const { return cause == Cause::none; }
};

Verdict rejected(Cause cause, Remedy remedy, std::string reason);
Verdict node_closed();
Verdict group_elsewhere();
Verdict gang_elsewhere();
// A node that the plan has for another pod, with which this one may change places.
Verdict gang_alike();
Verdict binding_elsewhere();

}  // namespace chipweave::sched
