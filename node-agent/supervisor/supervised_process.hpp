// SupervisedProcess — one run of the helper program: started, read line by line, and killed in the
// end.
//
// Its standard output is a pipe to us, its input is empty, its errors are ours; no other
// descriptor reaches it. It leads a process group of its own, so that what it started goes with it.
// One owner, any thread; calls block as long as they say.
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

class SupervisedProcess {
 public:
  enum class Got {
    line,
    silence,   // no whole line within the time
    end,       // it closed its output: it has ended or is about to
    too_long,  // a line beyond the limit
    woken,     // the wake descriptor became readable
  };

  // words[0]: path of the program. `wake`: a descriptor that interrupts read_line; -1: none.
  // Errors: not_found, unavailable.
  static Result<std::unique_ptr<SupervisedProcess>> start(const std::vector<std::string>& words,
                                                          int wake, std::size_t most_line_bytes);
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;
  // Kills what still runs, without waiting for its end: only who knows that it hangs in the kernel
  // should not have called kill() before.
  ~SupervisedProcess();

  // The next line without its end, valid until the next call; waits for it at most `longest`.
  Got read_line(std::chrono::milliseconds longest, std::string_view& line);

  // Whether it is gone, after waiting for that at most `longest`.
  bool gone(std::chrono::milliseconds longest);
  // SIGKILL to it and all it started, then as gone(). False: it hangs in the kernel, where nothing
  // reaches it.
  bool kill(std::chrono::milliseconds longest);
  // Once it is gone: "signal 11 (Segmentation fault)", "exit status 3"; "" before.
  const std::string& ending() const { return ending_; }

 private:
  SupervisedProcess(int pid, int out, int wake, std::size_t most_line_bytes)
      : pid_(pid), out_(out), wake_(wake), most_line_bytes_(most_line_bytes) {}
  bool next_line(std::string_view& line);

  int pid_;  // -1: gone
  io::Descriptor out_;
  int wake_;
  std::size_t most_line_bytes_;
  std::string buffer_;
  std::size_t used_ = 0;  // of buffer_: lines that were handed out
  std::size_t seen_ = 0;  // of buffer_: where no line ends before
  std::string ending_;
};

}  // namespace chipweave::agent
