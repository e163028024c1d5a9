// The batch form of a command: reads requests from a file, one JSON object per line, writes one
// answer per line, and measures decision times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Filled by add_batch_options().
struct BatchFlags {
  std::string file;  // --batch; "-" is standard input
  bool timing = false;
  int repeat = 1;
};

// Measures decisions in nanoseconds if --timing is given, and prints a summary.
class Timing {
 public:
  explicit Timing(const BatchFlags& flags) : wanted_(flags.timing), repeat_(flags.repeat) {}

  // Returns the result of `decide`; with --timing it runs --repeat times and the last result
  // counts.
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
  // Prints the summary to standard error if --timing is given.
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
  std::string id;            // the request's id as JSON text
  Result<std::string> line;  // or why the request cannot be used
};
// Lines longer than max_bytes are cut just above that, so that parsing rejects them. Fails when the
// file cannot be read or the output cannot be written.
Exit run_batch(const BatchFlags& flags, std::size_t max_bytes,
               const std::function<BatchAnswer(const std::string& line, Timing& timing)>& answer);

}  // namespace chipweave::cli
