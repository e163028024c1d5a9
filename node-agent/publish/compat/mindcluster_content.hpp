// What a node with Ascend chips publishes in MindCluster's ConfigMaps, annotations and labels, so
// that MindCluster's stock components (Volcano's plugin, ClusterD, the operators) work with
// chipweave.
//
// Pure: the state in, texts out. Empty for machines of other vendors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/codec/mindcluster/check_code.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/compat/node_metadata.hpp"

namespace chipweave::agent {

// Data of mindx-dl-deviceinfo-<node>: DeviceInfoCfg, and SwitchInfoCfg of machines that have such
// switches. in_use: chips that the kubelet has allocated. update_time: seconds, higher at each
// write; readers drop what is not newer.
codec::StringMap device_info_data(const NodeState& state,
                                  const std::vector<domain::ChipIndex>& in_use,
                                  std::int64_t update_time,
                                  const codec::mindcluster::Digest& sha256);

// Data of mindx-dl-nodeinfo-<node>; nullopt: there must be none.
std::optional<codec::StringMap> node_info_data(const NodeState& state,
                                               const codec::mindcluster::Digest& sha256);

NodeMetadata mindcluster_metadata(const NodeState& state);

// Chips that operators have taken out of service in ManuallySeparateNPU of the first of these
// ConfigMaps; chips that the machine does not have are ignored. Errors: a malformed list.
Result<std::vector<domain::ChipIndex>> manually_separated(const NodeState& state,
                                                          std::string_view text);

}  // namespace chipweave::agent
