// Reads Chipweave's own topology JSON from an inline `machine` object of a batch line.
#pragma once

#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec {

// `json` is the text of one object of the topology schema (docs/reference/topology-json.md). Errors
// name the key path inside it ("links[3].kind: …"), syntax errors line and column.
Result<domain::NodeTopology> topology_from_json_text(std::string_view json,
                                                     const ImportOptions& options = {});

}  // namespace chipweave::codec
