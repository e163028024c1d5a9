// What a node with Ascend chips says in the ConfigMaps, annotations and labels of MindCluster, so
// that its stock components (Volcano's plugin, ClusterD, the operators) work beside chipweave.
//
// Pure: the machine in, texts out. Empty for machines of other vendors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/compat/marks.hpp"

namespace chipweave::agent {

// Data of mindx-dl-deviceinfo-<node>: DeviceInfoCfg, and SwitchInfoCfg of machines that have such
// switches. in_use: chips that the kubelet has given out. update_time: seconds, rising with each
// writing; readers drop what is not newer.
codec::StringMap device_info_data(const NodeState& state,
                                  const std::vector<domain::ChipIndex>& in_use,
                                  std::int64_t update_time,
                                  const codec::mindcluster::Digest& sha256);

// Data of mindx-dl-nodeinfo-<node>; nullopt: there must be none.
std::optional<codec::StringMap> node_info_data(const NodeState& state,
                                               const codec::mindcluster::Digest& sha256);

NodeMarks mindcluster_marks(const NodeState& state);

// Chips that people took out of service in ManuallySeparateNPU of the first of these ConfigMaps.
// Such as the machine does not have are left out. Errors: a list that cannot be read.
Result<std::vector<domain::ChipIndex>> manually_separated(const NodeState& state,
                                                          std::string_view text);

}  // namespace chipweave::agent
