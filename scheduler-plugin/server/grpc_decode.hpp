// Messages of the gRPC API → values of the decision core. Pure, bounded, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chipweave/v1/inventory.pb.h"
#include "chipweave/v1/placement.pb.h"
#include "common/base/result.hpp"
#include "scheduler-plugin/model/inventory.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

// A full or delta report; heartbeats carry nothing to decode (invalid_argument).
Result<InventoryReport> decode_report(const v1::InventoryReport& message);
// Node and boot id, which every report carries: present, bounded, and of characters a node name may
// have.
Result<void> check_sender(const v1::InventoryReport& message);

// `key` names the field in the error: too long, with control characters, or missing.
Result<void> check_name(const std::string& value, const std::string& key, bool may_be_empty);
enum class PodName { required, optional };
Result<PodRequest> decode_request(const v1::PodRequest& message, PodName name);
Result<PodKey> decode_key(const v1::PodKey& message);
// Views into the message.
Result<std::vector<std::string_view>> decode_nodes(
    const google::protobuf::RepeatedPtrField<std::string>& nodes);

v1::Outcome to_proto(ReportOutcome outcome);

}  // namespace chipweave::sched
