// The members that DeviceInfoCfg and ClusterD's collections have in common. Internal to
// common/codec/mindcluster.
#pragma once

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/members.hpp"
#include "common/codec/mindcluster/node/device_info.hpp"

namespace chipweave::codec::mindcluster {

// {"DeviceList":{…},"UpdateTime":N}
Result<DeviceInfo> device_list_of(const Json& value, const std::string& path);
// The members DeviceList and UpdateTime.
void append_device_list(JsonWriter& out, const DeviceInfo& info);
// SuperPodID, ServerIndex, RackID.
Result<void> add_place(DeviceInfo& info, const Json& value, const std::string& path);

}  // namespace chipweave::codec::mindcluster
