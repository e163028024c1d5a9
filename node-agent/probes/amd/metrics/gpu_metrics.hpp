// GpuMetricsTable — amdgpu's binary file gpu_metrics, as far as its layout is known: traffic of
// XGMI links, and why clocks are held back.
//
// The file begins with its size and version; fields move between versions. Known are 1.3 (MI200:
// throttling), 1.4, 1.6, 1.7 and 1.8 (MI300 and later: XGMI), by the kernel's
// drivers/gpu/drm/amd/include/kgd_pp_interface.h; 1.5 is left out, since published layouts of it
// differ. The throttling of 1.4 depends on the chip, and from 1.6 on it is a sum of residencies:
// neither is read.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "common/domain/chip_metrics.hpp"

namespace chipweave::agent {

struct GpuMetricsTable {
  std::vector<domain::LinkTraffic> links;
  std::map<domain::ThrottleReason, bool> throttled;
};

// What is not known, cut off or marked as absent is left out.
GpuMetricsTable parse_gpu_metrics(std::string_view bytes);

}  // namespace chipweave::agent
