// The nodes of a scheduler for people: a line each, and what is wrong with them.
#pragma once

#include <string>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::cli {

// Many: faults that are mere notes are left out.
std::string render_nodes(const std::vector<codec::NodeView>& nodes, bool colours);
// One: with its notes, and with everything that is down.
std::string render_node(const codec::NodeView& node, bool colours);

}  // namespace chipweave::cli
