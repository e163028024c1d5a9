// Hostfiles of mpirun, deepspeed and the like: a host a line, `NAME [slots=N]`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct Host {
  std::string name;
  std::int64_t slots = 0;  // ranks that run on it; 0: the line does not say
  std::string line;        // as written, without what is around it and without comment
};

// Blank lines and comments (#) are passed over. Strict about the rest, so that a word that is
// mistyped does not pass for one that means nothing: beside slots only max_slots is known. Errors
// name the line: unknown words, a host named twice, limits::kMaxGangPods; a file without hosts.
Result<std::vector<Host>> parse_hostfile(std::string_view text);

}  // namespace chipweave::codec
