// Host lists as Slurm writes them: "tux[0-3,12],login" ↔ names. Internal to common/codec/network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Names in order; zeros before a number are kept. Several brackets in one name multiply, the last
// runs fastest. Errors: brackets that do not match, ranges that run backwards, more than
// limits::kMaxNetworkDomains names in all.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

// Names in their order, runs of consecutive numbers at the end of a name joined: n1,n2,n3 →
// "n[1-3]". What expand_hostlist makes of it are the same names, if none has a bracket, comma or
// blank.
std::string compress_hostlist(const std::vector<std::string>& names);
// Whether a name can stand in a host list.
bool fits_hostlist(std::string_view name);

}  // namespace chipweave::codec
