// PeerProgram — another program that answers each line on its standard input with one line on its
// standard output.
//
// It runs as long as the object lives: its input is closed then, and it is killed. Its standard
// error is ours. The process must ignore SIGPIPE.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::bench {

class PeerProgram {
 public:
  static constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20U;

  // words: the program, found on PATH, and its arguments.
  PeerProgram(std::vector<std::string> words, std::chrono::milliseconds deadline)
      : words_(std::move(words)), deadline_(deadline) {}
  PeerProgram(const PeerProgram&) = delete;
  PeerProgram& operator=(const PeerProgram&) = delete;
  ~PeerProgram();

  // The answer to the line, both without the line break. Starts the program at the first call.
  // Errors: not_found, deadline, limit_exceeded (over kMaxAnswerBytes), unavailable (the program
  // has ended); the program is useless afterwards.
  Result<std::string> ask(std::string line);

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> start();
  Result<void> transfer(short events, Clock::time_point until);
  Result<void> receive();
  Result<void> send();

  std::vector<std::string> words_;
  std::chrono::milliseconds deadline_;
  pid_t process_ = -1;
  io::Descriptor input_{-1};   // of the program
  io::Descriptor output_{-1};  // of the program
  std::string line_;           // the question
  std::size_t sent_ = 0;       // bytes of it
  std::string received_;
};

}  // namespace chipweave::bench
