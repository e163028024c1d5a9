// Renders the nodes of a scheduler as a table with their faults.
#pragma once

#include <string>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::cli {

// All nodes, without faults that are mere notes.
std::string render_nodes(const std::vector<codec::NodeView>& nodes, bool colours);
// One node, with notes and everything that is down.
std::string render_node(const codec::NodeView& node, bool colours);

}  // namespace chipweave::cli
