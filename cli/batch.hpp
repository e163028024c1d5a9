// The batch form of a command: requests from a file, one JSON object a line, each answered on a
// line; and how long decisions took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace chipweave::cli {

// What add_batch_options() fills.
struct BatchFlags {
  std::string file;  // --batch; "-" is standard input
  bool timing = false;
  int repeat = 1;
};

// Nanoseconds of decisions, if they are asked for, and the line that sums them up.
class Timing {
 public:
  explicit Timing(const BatchFlags& flags) : wanted_(flags.timing), repeat_(flags.repeat) {}

  // What `decide` gives; if times are wanted, the last time of as many as --repeat says.
  template <class Decide>
  auto timed(const Decide& decide) {
    if (!wanted_) return decide();
    begin();
    auto out = decide();
    end();
    for (int i = 1; i < repeat_; ++i) {
      begin();
      out = decide();
      end();
    }
    return out;
  }
  // On standard error, if it is wanted.
  void report();

 private:
  void begin();
  void end();

  bool wanted_;
  int repeat_;
  std::int64_t began_ = 0;
  std::vector<std::int64_t> ns_;
};

struct BatchAnswer {
  std::string line;
  bool error = false;  // the line could not be used
};
// Lines above max_bytes are cut just above it. Ends with an error when the file cannot be read or
// the output not be written.
Exit run_batch(const BatchFlags& flags, std::size_t max_bytes,
               const std::function<BatchAnswer(const std::string& line, Timing& timing)>& answer);

}  // namespace chipweave::cli
