// Traces of clusters as CSV with a header line: the columns of the openb trace of
// alibaba/clusterdata (cluster-trace-gpu-v2023), or our own.
//
//   nodes: name|sn, cpu_milli, memory_mib, chips|gpu; optional: model
//   pods:  name, cpu_milli, memory_mib, chips|num_gpu; optional: gpu_milli, needs_gbps,
//          arrival_s and duration_s, or creation_time and deletion_time
//
// Other columns are ignored. Times are seconds; arrivals are shifted so that the first is 0.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/trace.hpp"

namespace chipweave::codec {

// Errors name line and column: invalid_argument; limit_exceeded over limits.hpp.
Result<std::vector<domain::TraceNode>> read_node_trace(std::string_view text);
// A pod with one chip and gpu_milli from 1 to 999 shares a chip: it counts as one whole chip.
Result<domain::PodTrace> read_pod_trace(std::string_view text);

}  // namespace chipweave::codec
