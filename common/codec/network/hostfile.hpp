// Hostfiles of mpirun, deepspeed and similar launchers: one host per line, `NAME [slots=N]`; and
// Open MPI's rankfiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

// Host after host. Errors: limit_exceeded: it would have more than `most` bytes.
Result<std::string> write_hostfile(std::span<const Host> hosts, std::size_t most);
// "rank R=NAME slot=0:*", all cores of the first CPU package, where slot=0 would be core 0 alone:
// each host has as many ranks as slots, host after host. Errors: likewise.
Result<std::string> write_rankfile(std::span<const Host> hosts, std::size_t most);

}  // namespace chipweave::codec
