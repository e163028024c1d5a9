// Backoff — the delays between retries: each twice as long as the one before, up to a limit, minus
// a random part, so that a thousand agents do not reconnect in the same millisecond after a
// scheduler restarts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace chipweave {

class Backoff {
 public:
  using Ms = std::chrono::milliseconds;
  // A number from 0 to 1 each time.
  using Random = std::function<double()>;
  struct Waits {
    Ms first;
    Ms longest;
    // The random part of each wait: 1 for waits between zero and the full time, 0 for constant
    // waits; `random` may then be empty.
    double jitter = 0.5;
  };
  explicit Backoff(Waits waits, Random random = {})
      : waits_(waits), step_(waits.first), random_(std::move(random)) {}

  // at_least: what the server asked for.
  Ms next(Ms at_least = Ms(0));
  // Starts again from the first wait; call it after a success.
  void reset() { step_ = waits_.first; }

  // For jitter that differs between seeds.
  static Random seeded(std::uint64_t seed);

 private:
  Waits waits_;
  Ms step_;
  Random random_;
};

}  // namespace chipweave
