// Faults ↔ their message: what an agent without a cluster tells of them.
//
// from_proto takes what a peer sent and is hostile-proof: counts, numbers and texts are checked.
// Any thread; no state.
#pragma once

#include <vector>

#include "chipweave/v1/inventory.pb.h"
#include "common/base/result.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::rpc {

// The worst domain::kMaxReportedFaults of them, texts cut and cleaned so that they are accepted.
v1::FaultList to_proto(const std::vector<domain::Fault>& faults);
// invalid_argument or limit_exceeded, naming the field: "faults[3].chip …". Which chips the machine
// has is not asked: a fault may outlive its chip.
Result<std::vector<domain::Fault>> from_proto(const v1::FaultList& message);

}  // namespace chipweave::rpc
