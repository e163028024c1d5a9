// What `npu-smi info -t spod-info -i NPU -c CHIP` prints: the place of a die in its super pod.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

inline constexpr std::size_t kMaxSpodInfoBytes = std::size_t{64} << 10U;

struct SpodInfo {
  std::uint32_t sdid = 0;  // the super device id
  std::int64_t super_pod_size = 0;
  std::int64_t super_pod_id = 0;
  std::int64_t server_index = 0;
};

// Errors: unsupported if the device is not in a super pod; invalid_argument, naming a line that is
// missing or has no number; limit_exceeded.
Result<SpodInfo> parse_spod_info(std::string_view output);

}  // namespace chipweave::codec::ascend
