// Times as Kubernetes and we write them, read back.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::codec {

// "2026-01-02T03:04:05Z" in seconds since 1970; 0 for anything else, which is not worth losing the
// rest for.
std::int64_t seconds_of(const std::string& time);

}  // namespace chipweave::codec
