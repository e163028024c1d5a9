// Backoff — exponential back-off from `least` to `most` with jitter, so that a thousand agents do
// not reconnect in the same millisecond after a scheduler restarts.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace chipweave {

class Backoff {
 public:
  using Ms = std::chrono::milliseconds;
  Backoff(Ms least, Ms most, std::uint64_t seed)
      : least_(least), most_(most), step_(least), random_(seed) {}

  // A random delay between half the current step and the whole step; then the step doubles, up to
  // `most`.
  Ms next();
  // Starts again from `least`; call it after a success.
  void reset() { step_ = least_; }

 private:
  Ms least_, most_, step_;
  std::mt19937_64 random_;
};

}  // namespace chipweave
