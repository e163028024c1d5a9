// NodesView — the nodes of a scheduler as a table with their faults, and one node chip by chip.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// All nodes, without faults that are mere notes. NotReady: the agent is silent, or the device
// plugin is not ready. wide: also their resources, and what hands their chips over.
std::string render_nodes(const std::vector<codec::NodeView>& nodes, bool wide, bool colours,
                         std::chrono::system_clock::time_point now);
// One node, with its chips, notes and everything that is down. topology: null if the scheduler did
// not send it.
std::string render_node(const codec::NodeView& node, const domain::NodeTopology* topology,
                        bool colours, std::chrono::system_clock::time_point now);

// The nodes that are new or differ in anything but the age of their report. Both in one order.
std::vector<codec::NodeView> changed_nodes(const std::vector<codec::NodeView>& before,
                                           const std::vector<codec::NodeView>& now);

}  // namespace chipweave::cli
