// Whether another DRA driver or a device plugin gives away the chips of this node.
// Two books about one chip give it away twice, so this driver then offers nothing. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/codec/kube/dra/resource_slice.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent::dra {

// Why this driver must not offer the chips, and what to do; empty: it may. slices: all of the node.
std::string conflict_on_node(const NodeState& state, const std::string& driver,
                             const std::vector<codec::ResourceSlice>& slices,
                             const codec::NodeFacts& node);

}  // namespace chipweave::agent::dra
