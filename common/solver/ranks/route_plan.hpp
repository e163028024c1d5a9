// Route plan — new ranks for the pods of a running job so that neighbours in the ring of ranks
// share a switch; ModelArts calls this route planning.
//
// Pods are grouped by their domain at every level, largest groups first, then by their first pod;
// inside a leaf they keep the order of their indices, with the pods of one host together. Every
// domain of every level is one run of ranks, so no order crosses fewer borders at any level. Pods
// without a known place come last.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

struct RoutePod {
  std::string host;  // equal for pods on one machine
  RankPath path;     // of that machine
};

enum class RouteState {
  planned,
  one_host,     // nothing to order: the ring does not use the network
  no_topology,  // no pod has a known place: the order is kept
};

struct RoutePlan {
  RouteState state = RouteState::planned;
  std::vector<std::size_t> order;    // the pod at each new rank; unchanged unless planned
  std::vector<std::size_t> rank_of;  // the new rank of each pod
  // The pod that gets new rank 0, the job's master.
  std::size_t master() const { return order.empty() ? 0 : order.front(); }
  std::vector<std::size_t> unknown;    // pods without a place in the network, ascending
  std::vector<std::size_t> crossings;  // of the ring of ranks, by level; see ring_crossings()
  std::vector<std::size_t> before;     // of the ring in the given order
};

// pods by their index in the job. The same pods give the same plan on every machine. Cost:
// O(n levels log n).
RoutePlan route_plan(std::size_t levels, const std::vector<RoutePod>& pods);

// The name of the path's leaf in a rank table: the leaf's own name if it is an address or the only
// level, else the whole path, so that names are unique. "" if the path is incomplete.
std::string leaf_name(std::size_t levels, const RankPath& path);

}  // namespace chipweave::solver
