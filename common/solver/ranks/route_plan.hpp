// Route plan — new ranks for the pods of a running job, so that neighbours in the ring of ranks
// share a switch: what ModelArts calls route planning.
//
// Pods are grouped by their domain at every level, the largest groups first and then by their first
// pod; inside a leaf they keep the order of their indexes, pods of one host together. Every domain
// of every level is one run of ranks, so no order crosses fewer borders, at any level. Pods of
// which the network knows nothing come last.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

struct RoutePod {
  std::string host;  // equal for pods of one machine
  RankPath path;     // of that machine, coarsest first; see RankPath for what is not known
};

enum class RouteState {
  planned,
  one_host,     // nothing to order: the ring crosses no network
  no_topology,  // no pod's place is known: any order is as good as the one given
};

struct RoutePlan {
  RouteState state = RouteState::planned;
  std::vector<std::size_t> order;    // the pod at each new rank; as given unless planned
  std::vector<std::size_t> rank_of;  // the new rank of each pod
  // The pod that gets new rank 0, the job's master.
  std::size_t master() const { return order.empty() ? 0 : order.front(); }
  std::vector<std::size_t> unknown;    // pods without a place in the network, ascending
  std::vector<std::size_t> crossings;  // of the ring of ranks, by level; see ring_crossings()
  std::vector<std::size_t> before;     // of the ring as it is given
};

// pods by their index in the job. The same pods give the same plan on every machine. Cost:
// O(n levels log n).
RoutePlan route_plan(std::size_t levels, const std::vector<RoutePod>& pods);

}  // namespace chipweave::solver
