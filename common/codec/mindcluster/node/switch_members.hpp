// SwitchInfo within a larger text. Internal to common/codec/mindcluster.
#pragma once

#include <cstddef>

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/members.hpp"
#include "common/codec/mindcluster/node/switch_info.hpp"

namespace chipweave::codec::mindcluster {

// The members FaultInfo (events as objects) to FaultTimeAndLevelMap. Where the number of UpdateTime
// begins.
std::size_t append_switch_info(JsonWriter& out, const SwitchInfo& info);
Result<SwitchInfo> switch_info_of(const Json& value, const std::string& path);

}  // namespace chipweave::codec::mindcluster
