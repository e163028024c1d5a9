// Backoff — how long to wait before the next attempt: doubling from `least` to `most`, each with
// jitter, so that a thousand agents do not come back in the same millisecond when a scheduler
// restarts.
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

  // Between half a step and a whole one, never below half of `least`; the step doubles up to
  // `most`.
  Ms next();
  // After a success.
  void reset() { step_ = least_; }

 private:
  Ms least_, most_, step_;
  std::mt19937_64 random_;
};

}  // namespace chipweave
