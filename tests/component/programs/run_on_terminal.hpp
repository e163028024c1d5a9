// run_on_terminal — like run, but the program's standard output is a terminal of a given width.
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "tests/component/programs/run.hpp"

namespace chipweave {

inline Outcome run_on_terminal(std::string line, unsigned short columns) {
  for (std::size_t at = 0; (at = line.find("%B", at)) != std::string::npos;) {
    line.replace(at, 2, test::program_path("."));
  }
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 50;
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty");
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  Outcome out;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(master, buffer.data(), buffer.size())) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      const char c = buffer.at(static_cast<std::size_t>(i));
      if (c != '\r') out.text += c;  // the terminal ends lines with \r\n
    }
  }
  ::close(master);
  int status = 0;
  ::waitpid(child, &status, 0);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

}  // namespace chipweave
