// NodeInfo within a larger text. Internal to common/codec/mindcluster.
#pragma once

#include "common/codec/mindcluster/members.hpp"
#include "common/codec/mindcluster/node_info.hpp"

namespace chipweave::codec::mindcluster {

// {"FaultDevList":[…],"NodeStatus":"…"}
Result<NodeInfo> node_info_of(const Json& value, const std::string& path);

}  // namespace chipweave::codec::mindcluster
