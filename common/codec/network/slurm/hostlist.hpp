// Host lists as Slurm writes them: "tux[0-3,12],login" ↔ names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Names in order; leading zeros are kept. Several brackets in one name multiply, the last varies
// fastest. Errors: unmatched brackets, reversed ranges, more than limits::kMaxNetworkDomains names.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

// Names in their order, with runs of consecutive numbers at the end of a name joined: n1,n2,n3 →
// "n[1-3]". expand_hostlist returns the same names if fits_hostlist is true for each.
std::string compress_hostlist(const std::vector<std::string>& names);
// Whether a name can be part of a host list.
bool fits_hostlist(std::string_view name);

}  // namespace chipweave::codec
