// Hostfiles of mpirun, deepspeed and similar launchers: one host per line, `NAME [slots=N]`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct Host {
  std::string name;
  std::int64_t slots = 0;  // ranks that run on it; 0: not given
  std::string line;        // as written, trimmed, without comment
};

// Blank lines and comments (#) are ignored. Anything but slots and max_slots is an error, so that a
// typo is not ignored. Errors name the line: unknown words, a host named twice; more hosts than
// limits::kMaxGangPods; no hosts.
Result<std::vector<Host>> parse_hostfile(std::string_view text);

}  // namespace chipweave::codec
