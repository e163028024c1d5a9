// Reads times as Kubernetes and chipweave write them.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::codec {

// "2026-01-02T03:04:05Z" in seconds since 1970; 0 for anything else, so that a bad time does not
// invalidate the whole object.
std::int64_t seconds_of(const std::string& time);

}  // namespace chipweave::codec
