// spawn — starts a program without a shell and with a clean state: empty input, output to a given
// descriptor, no other descriptors, default signal handling, and its own process group, so that it
// can be killed together with its children.
//
// The kernel kills it when the thread that called spawn() ends, so also when our process is killed.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::io {

enum class SpawnErrors {
  with_output,  // standard error goes to `output`, too
  ours,         // standard error is inherited
};

// words[0]: path of the program. output: descriptor for its standard output. Returns its process
// id, which is also its process group id. Errors: not_found, unavailable.
Result<int> spawn(std::vector<std::string> words, int output, SpawnErrors errors);

}  // namespace chipweave::io
