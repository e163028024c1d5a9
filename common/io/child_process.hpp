// run_child — runs a program without a shell and collects its output, with a deadline and a size
// limit. The program has been reaped when it returns, and dies with the calling thread (spawn.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::io {

struct ChildLimits {
  std::chrono::milliseconds deadline{10'000};
  std::size_t max_bytes = std::size_t{256} << 10U;
};

struct ChildOutput {
  int exit_status = 0;  // 128 + signal if a signal ended it
  std::string text;     // stdout and stderr, interleaved
};

// words[0]: path of the program. Its standard input is empty. A program that exceeds a limit is
// killed together with its children. Errors: not_found, deadline, limit_exceeded, unavailable.
Result<ChildOutput> run_child(const std::vector<std::string>& words, const ChildLimits& limits);

// `name` on PATH, if it is an executable file; "" if there is none.
std::string find_on_path(const std::string& name);

}  // namespace chipweave::io
