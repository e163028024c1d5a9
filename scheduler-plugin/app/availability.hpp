// Availability — why no node takes a pod, in the form of kube-scheduler's own sentence:
// "0/10 nodes are available: 7 Insufficient nvidia.com/gpu, 3 NotReady (the agent is silent)".
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

// The sentence without a full stop, the most frequent reason first. not_offered: nodes with chips
// that the pod's scheduler has ruled out itself.
std::string availability_text(std::string_view resource, std::vector<Rejection> rejections,
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
