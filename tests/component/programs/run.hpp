// run — starts one of the built programs through the shell, so that tests see what a script sees.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tests/support/paths.hpp"

namespace chipweave {

// Exit statuses.
constexpr int kWrongUsage = 2;
constexpr int kUnreadable = 3;

struct Outcome {
  int code = -1;
  std::string text;  // what the shell line leaves on standard output
};

// line: with %B where the folder of the programs goes, e.g. "%B/chipweave profiles 2>&1".
inline Outcome run(std::string line) {
  for (std::size_t at = 0; (at = line.find("%B", at)) != std::string::npos;) {
    line.replace(at, 2, test::program_path("."));
  }
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  Outcome out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    out.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

// One line of standard error and nothing else; standard output is dropped.
inline Outcome complaint(const std::string& arguments) {
  return run("%B/" + arguments + " 2>&1 >/dev/null </dev/null");
}

}  // namespace chipweave
