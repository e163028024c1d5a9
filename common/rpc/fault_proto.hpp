// Converts faults to and from their gRPC message, which agents send without a cluster.
//
// from_proto takes untrusted input: it checks counts, numbers and strings.
// Any thread; no state.
#pragma once

#include <vector>

#include "chipweave/v1/inventory.pb.h"
#include "common/base/result.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::rpc {

// The worst domain::kMaxReportedFaults faults, with texts cut and cleaned to pass from_proto.
v1::FaultList to_proto(const std::vector<domain::Fault>& faults);
// invalid_argument or limit_exceeded, naming the field: "faults[3].chip …". Chip indices are
// not checked against the machine: a fault may outlive its chip.
Result<std::vector<domain::Fault>> from_proto(const v1::FaultList& message);

}  // namespace chipweave::rpc
