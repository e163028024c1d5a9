#include "common/base/backoff.hpp"

#include <algorithm>

namespace chipweave {

Backoff::Ms Backoff::next() {
  std::uniform_int_distribution<Ms::rep> any(step_.count() / 2, step_.count());
  const Ms wait(any(random_));
  step_ = std::min(most_, step_ * 2);
  return wait;
}

}  // namespace chipweave
