// What the scheduler's verdicts say about a pod that no node takes: the sentence of
// common/domain/availability.hpp, which nodes are nearest to taking it, and whether one ever can.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/evaluation.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// Nodes that were rejected for one reason.
struct Rejection {
  std::size_t nodes = 0;
  Cause cause = Cause::none;
  std::string_view reason;  // Verdict::reason
};

// domain::availability_text() of them. not_offered: nodes with chips that the pod's scheduler has
// ruled out itself.
std::string availability_text(std::string_view resource, const std::vector<Rejection>& rejections,
                              std::size_t not_offered);

// Positions of the evaluated nodes: the fitting ones first, then those where other pods would have
// to end, those that time may mend, and those that can never hold the pod; among equals the more
// free chips, then as evaluated.
std::vector<std::size_t> by_relevance(const Evaluation& evaluation, const NodeTable& nodes);

// That none of the evaluated nodes can hold the pod even when it is empty and whole; empty: one
// can. all: they are all of the cluster; nothing is known of others, which a change of the pod's
// selectors may let it use.
std::string never_text(const PodRequest& request, const Evaluation& evaluation, bool all);

// "the agent has not reported for 5m"; of a node without inventory: that none ever has.
std::string silence_text(const Node& node, Clock::Steady now);

}  // namespace chipweave::sched
