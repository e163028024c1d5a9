// The parts that a node's own ConfigMaps and ClusterD's collections of all nodes have in common.
// Internal to common/codec/mindcluster.
#pragma once

#include <cstddef>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"
#include "common/codec/mindcluster/node/switch_info.hpp"

namespace chipweave::codec::mindcluster {

// The members DeviceList and UpdateTime.
void append_device_list(JsonWriter& out, const DeviceInfo& info);
// The members FaultDevList and NodeStatus.
void append_node_info(JsonWriter& out, const NodeInfo& info);

// The members FaultInfo (events as objects) to FaultTimeAndLevelMap. Returns the offset of the
// number of UpdateTime.
std::size_t append_switch_info(JsonWriter& out, const SwitchInfo& info);

}  // namespace chipweave::codec::mindcluster
