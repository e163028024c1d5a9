// Names: the extended resources that a machine's chips are counted as, and the id of each chip.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// Those of the vendor (common/domain/vendor.hpp). unsupported for an unknown vendor, whose operator
// must set --resource.
Result<std::vector<std::string>> default_resources(const domain::NodeTopology& topology);

// Gives chips without an id a stable one: "<vendor>-<node>-<index>", on Ascend the name that
// MindCluster uses ("Ascend910-3", by physical id). A chip of an Ascend machine without a physical
// id gets its index, unless it has an id by place: then it is unknown.
Result<domain::NodeTopology> with_identity(const domain::NodeTopology& topology,
                                           const std::string& node);

}  // namespace chipweave::agent
