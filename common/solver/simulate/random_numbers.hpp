// RandomNumbers — the draws of a simulation: splitmix64, so that a seed gives the same numbers with
// every compiler and library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/solver/bandwidth/flat_map.hpp"

namespace chipweave::simulate {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return solver::mix(state_);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  // Uniform between 0 and 1, without both.
  double share() { return static_cast<double>((next() >> 11U) + 1) / 9007199254740993.0; }
  // Exponentially distributed with that mean.
  double exponential(double mean) { return -std::log(share()) * mean; }

 private:
  std::uint64_t state_;
};

}  // namespace chipweave::simulate
