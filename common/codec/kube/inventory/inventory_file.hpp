// The machine in a file made from an agent's report:
// `kubectl get nodeinventory NODE -o json > FILE`.
#pragma once

#include <string_view>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec {

// The whole object, its status, or the topology alone; other keys are ignored. Errors name the key;
// limit_exceeded above limits::kMaxKubeObjectBytes.
Result<domain::NodeTopology> read_inventory_file(std::string_view text);

}  // namespace chipweave::codec
