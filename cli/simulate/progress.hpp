// Progress bar of a simulation, on stderr if that is a terminal, and the clock that measures its
// decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace chipweave::cli {

class Progress {
 public:
  // total: steps of all policies together.
  explicit Progress(std::size_t total);
  // Erases the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws the bar if it looks different. what: the policy that runs.
  void show(std::size_t done, const std::string& what);

 private:
  std::size_t total_;
  bool terminal_;
  std::string drawn_;
};

std::uint64_t steady_ns();

}  // namespace chipweave::cli
