// Time of this thread, so that a busy machine does not count.
#pragma once

#include <ctime>

namespace chipweave::bench {

inline double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace chipweave::bench
