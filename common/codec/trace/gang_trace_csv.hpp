// Traces of jobs as CSV with a header line, one job with all its pods a row:
//
//   name, chips|num_gpu (of each pod); optional: pods (1), priority (0), required_level,
//   preferred_level, arrival_s and duration_s, or creation_time and deletion_time
//
// A trace of pods is one, too: each of its pods is a gang of one. Other columns are ignored. Times
// are seconds; arrivals are shifted so that the first is 0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/trace.hpp"

namespace chipweave::codec {

// levels: of the network, which the rows name. Errors name line and column: invalid_argument;
// limit_exceeded over limits.hpp.
Result<domain::GangTrace> read_gang_trace(std::string_view text,
                                          const std::vector<std::string>& levels);

}  // namespace chipweave::codec
