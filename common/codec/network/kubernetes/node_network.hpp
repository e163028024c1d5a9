// What one NodeInventory says about the network: the switches that the agent sees by LLDP, and the
// interconnect of the accelerators (NVLink clique, super-pod).
#pragma once

#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/json/json_value.hpp"
#include "common/domain/network/node_network.hpp"

namespace chipweave::codec {

// status: that value of the object. Switches are named by what they announce, else by their
// address. Errors: status.neighbours must be a list, more than limits::kMaxNetworkRails of them.
Result<domain::NodeNetwork> read_node_network(JsonValue status);
// The JSON text of a status; one that says nothing of this kind is not parsed.
Result<domain::NodeNetwork> read_node_network(std::string_view status);

}  // namespace chipweave::codec
