// jobstart_hccl.json and ranktable_tor.json: JobTable ↔ their JSON.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/modelarts/job_table.hpp"

namespace chipweave::codec {

inline constexpr std::string_view kJobStartFile = "jobstart_hccl.json";
inline constexpr std::string_view kTorFile = "ranktable_tor.json";
inline constexpr std::size_t kMaxTableBytes = 256U << 20U;  // a million devices, indented

// Compact, members in the order in which other writers have them; every scalar is text. The switch
// of a device is left out where it is not known.
std::string write_job_table(const JobTable& table);

// Either table; members that are not known are passed over. Errors: no JSON object, no status, a
// completed table without servers, a server or device that is wrong.
Result<JobTable> read_job_table(std::string_view json);

}  // namespace chipweave::codec
