// Converts NodeTopology to and from the gRPC message that agents send to the scheduler.
//
// from_proto takes untrusted input: it checks counts and string lengths before it builds anything;
// TopologyBuilder checks the rest. Any thread; no state.
#pragma once

#include <optional>

#include "chipweave/v1/topology.pb.h"
#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::rpc {

// Lossless: from_proto(to_proto(t)) equals t.
v1::NodeTopology to_proto(const domain::NodeTopology& topology);
// invalid_argument with every problem found; limit_exceeded for a list or string that is too long.
Result<domain::NodeTopology> from_proto(const v1::NodeTopology& message);

v1::Health to_proto(domain::Health health);
// nullopt for UNSPECIFIED and for numbers this version does not know.
std::optional<domain::Health> from_proto(v1::Health health);
v1::LinkKind to_proto(domain::LinkKind kind);  // SELF is sent as UNSPECIFIED
std::optional<domain::LinkKind> from_proto(v1::LinkKind kind);

}  // namespace chipweave::rpc
