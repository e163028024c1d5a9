// NodeInfo within a larger text. Internal to common/codec/mindcluster.
#pragma once

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/members.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"

namespace chipweave::codec::mindcluster {

// {"FaultDevList":[…],"NodeStatus":"…"}
// The members FaultDevList and NodeStatus.
void append_node_info(JsonWriter& out, const NodeInfo& info);
Result<NodeInfo> node_info_of(const Json& value, const std::string& path);

}  // namespace chipweave::codec::mindcluster
