#include "common/base/backoff.hpp"

#include <algorithm>
#include <random>

namespace chipweave {

Backoff::Ms Backoff::next(Ms at_least) {
  double wait = static_cast<double>(step_.count());
  if (waits_.jitter > 0) wait *= 1 - waits_.jitter * (1 - random_());
  step_ = std::min(waits_.longest, step_ * 2);
  return std::max(at_least, Ms(static_cast<Ms::rep>(wait)));
}

Backoff::Random Backoff::seeded(std::uint64_t seed) {
  return [random = std::mt19937_64(seed),
          any = std::uniform_real_distribution<double>(0, 1)]() mutable { return any(random); };
}

}  // namespace chipweave
