// spawn — starts a program without a shell, with nothing of ours but what it is given: no input,
// its output where we say, no other descriptor, no signal blocked or ignored, and a process group
// of its own, so that what it starts can be ended with it.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::io {

enum class SpawnErrors {
  with_output,  // standard error goes where standard output goes
  ours,         // it stays ours
};

// words[0]: path of the program. output: descriptor for its standard output. Its process id, which
// is its group's, too. Errors: not_found, unavailable.
Result<int> spawn(const std::vector<std::string>& words, int output, SpawnErrors errors);

}  // namespace chipweave::io
