// RailLeaves — which leaf switch each adapter of a node is connected to, in networks with a leaf
// for each rail: of equally good plans one is better whose nodes have the same leaves, since no
// ring then leaves its leaf.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// By node: a number, equal for nodes with the same leaf for each adapter; kNoLeaves: not known.
// Empty: not known for any.
using RailLeaves = std::vector<int>;
inline constexpr int kNoLeaves = -1;

inline constexpr int kMaxLeafPlans = 24;

// Different sets of leaves that a plan's nodes have; unknown ones do not count.
int leaf_sets(const RailLeaves& leaves, const domain::Plan& plan);

// A plan with as many pods on as few domains and nodes, as fast, on nodes with fewer sets of
// leaves: on one, two … of the six sets with the most room. `first` if none was found. gbps: of a
// plan, 0 where it is not known. Uniform pods, no repair; not with the policy even, nor with spare
// nodes. Cost: at most kMaxLeafPlans plans.
domain::Plan align_leaves(const Fabric& fabric, const std::vector<std::string>& level_names,
                          const domain::Gang& gang, const RailLeaves& leaves,
                          const std::function<double(const domain::Plan&)>& gbps,
                          domain::Plan first);

}  // namespace chipweave::solver
