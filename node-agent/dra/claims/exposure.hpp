// Exposure — by what a container gets a chip: device nodes, environment variables, and CDI devices
// of the vendor's own toolkit. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/dra/prepared_claims.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent::dra {

struct NodeRule {
  std::string path;       // "/dev/nvidia{minor}"
  bool optional = false;  // left out where the host has no such node
  friend bool operator==(const NodeRule&, const NodeRule&) = default;
};

struct Exposure {
  std::vector<NodeRule> nodes;
  // Lists the chips of a container for the vendor's container runtime; empty: the vendor has none.
  std::string variable;
  // Kind of the CDI devices that the vendor's toolkit describes, by id: "nvidia.com/gpu". Each chip
  // comes with its own, for the driver's libraries. Empty: none.
  std::string toolkit_kind;
};

// Comma separated paths below /dev; a '?' behind one makes it optional. {index}, {minor} (NVIDIA),
// {physical} (Ascend) and {pci} stand for the chip's. Errors: invalid_argument.
Result<std::vector<NodeRule>> parse_node_rules(const std::string& text);

// What is usual for the vendor; no nodes for one that is not known.
Exposure usual_exposure(const domain::NodeTopology& topology);

// The nodes of one chip. Errors: not_found (the host has no such node, or no minor number is
// known).
Result<std::vector<codec::CdiNode>> nodes_of(const Exposure& exposure, const domain::Chip& chip,
                                             const HostDevices& host);

}  // namespace chipweave::agent::dra
