// The batch form of a command: requests from a file, one JSON object a line, each answered on a
// line; and how long decisions took.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace chipweave::cli {

// Nanoseconds of decisions, and the line that sums them up.
class Timing {
 public:
  // What `decide` gives the last time; it runs `repeat` times.
  template <class Decide>
  auto timed(int repeat, const Decide& decide) {
    begin();
    auto out = decide();
    end();
    for (int i = 1; i < repeat; ++i) {
      begin();
      out = decide();
      end();
    }
    return out;
  }
  std::string line();

 private:
  void begin();
  void end();

  std::int64_t began_ = 0;
  std::vector<std::int64_t> ns_;
};

struct BatchAnswer {
  std::string line;
  bool error = false;  // the line could not be used
};
// file: "-" is standard input. Lines above max_bytes are cut just above it. Ends with an error when
// the file cannot be read or the output not be written.
Exit run_batch(const std::string& file, std::size_t max_bytes,
               const std::function<BatchAnswer(const std::string& line)>& answer);

}  // namespace chipweave::cli
