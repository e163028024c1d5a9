// Hostfiles of mpirun, deepspeed and similar launchers, node files of PBS, host lists of Slurm; and
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
  std::string line;        // as written, trimmed, without comment; of a host list its own part
  std::size_t lines = 1;   // that name it
};

// One host a line, `NAME`, `NAME slots=N` or `NAME:N`; a host list in place of a name, as Slurm
// writes it, stands for lines of its hosts: gpu[01-08] slots=8. A host that has several lines
// without slots has as many slots, as in the node files of PBS. Blank lines and comments (#) are
// ignored.
//
// Anything but slots and max_slots is an error, so that a typo is not ignored. Errors name the
// line: unknown words, a host named twice with slots; more hosts than limits::kMaxGangPods, more
// lines of hosts than limits::kMaxRanks; no hosts.
Result<std::vector<Host>> parse_hostfile(std::string_view text);

// Host after host. Errors: limit_exceeded: it would have more than `most` bytes.
Result<std::string> write_hostfile(std::span<const Host> hosts, std::size_t most);
// "rank R=NAME slot=0:*", all cores of the first CPU package, where slot=0 would be core 0 alone:
// each host has as many ranks as slots, host after host. Errors: likewise.
Result<std::string> write_rankfile(std::span<const Host> hosts, std::size_t most);

}  // namespace chipweave::codec
