// SupervisedProcess — one run of the probe program: started, read line by line, killed at the end.
//
// Its standard output is a pipe to the agent, its input is empty, its standard error is the
// agent's; it inherits no other descriptor. It leads its own process group, so that its children
// are killed with it. Programs that it started in groups of their own (hccn_tool) are killed by the
// kernel when it ends; in a process that called adopt_orphans(), they are reaped here. One owner,
// any thread; calls block for at most the time that they are given.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::agent {

// The children of children that end become ours instead of init's: in a container the agent is
// init, or init may be a program that reaps nothing. For a process whose only children are
// SupervisedProcesses.
void adopt_orphans();

class SupervisedProcess {
 public:
  enum class Got {
    line,
    timeout,   // no whole line within the time
    end,       // it closed its output: it has ended or is ending
    too_long,  // a line beyond the limit
    woken,     // the wake descriptor became readable
  };

  // command[0]: path of the program. `wake`: a descriptor that interrupts read_line; -1: none.
  // Errors: not_found, unavailable.
  static Result<std::unique_ptr<SupervisedProcess>> start(const std::vector<std::string>& command,
                                                          int wake, std::size_t max_line_bytes);
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;
  // Kills the process if it still runs, without waiting for its end. Call kill() first, unless it
  // is known to hang in the kernel.
  ~SupervisedProcess();

  // The next line without its end, valid until the next call; waits for it at most `longest`.
  Got read_line(std::chrono::milliseconds longest, std::string_view& line);

  // Waits for its end, at most `longest`; whether it has ended.
  bool wait_for_exit(std::chrono::milliseconds longest);
  // Sends SIGKILL to its process group, then as wait_for_exit(). False: it hangs in the kernel.
  bool kill(std::chrono::milliseconds longest);
  // After its end: "signal 11 (Segmentation fault)", "exit status 3"; "" before.
  const std::string& exit_reason() const { return exit_reason_; }

 private:
  SupervisedProcess(int pid, int out, int wake, std::size_t max_line_bytes)
      : pid_(pid), out_(out), wake_(wake), max_line_bytes_(max_line_bytes) {}
  bool next_line(std::string_view& line);
  void reap_orphans() const;

  int pid_;  // -1: ended
  io::Descriptor out_;
  int wake_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t used_ = 0;  // of buffer_: lines already returned
  std::size_t seen_ = 0;  // of buffer_: searched for a line end already
  std::string exit_reason_;
};

}  // namespace chipweave::agent
