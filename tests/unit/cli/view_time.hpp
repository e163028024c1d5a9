// The time at which the tests of tables look at a scheduler's answers.
#pragma once

#include <chrono>

#include "common/codec/kube/rfc3339_time.hpp"

namespace chipweave::cli::test {

inline std::chrono::system_clock::time_point view_time() {
  return std::chrono::system_clock::time_point(
      std::chrono::seconds(codec::seconds_of("2026-11-22T09:17:22Z")));
}

}  // namespace chipweave::cli::test
