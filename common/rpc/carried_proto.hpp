// Converts what links carry to and from its gRPC message, which agents send without a cluster.
#pragma once

#include "chipweave/v1/inventory.pb.h"
#include "common/base/result.hpp"
#include "common/domain/carried.hpp"

namespace chipweave::rpc {

v1::CarriedList to_proto(const domain::CarriedPeaks& carried);
// Takes untrusted input. invalid_argument or limit_exceeded, naming the field: "carried[3].gbps …".
Result<domain::CarriedPeaks> from_proto(const v1::CarriedList& message);

}  // namespace chipweave::rpc
