// ManualClock — advances only through advance(). Not thread-safe: one owner.
#pragma once

#include <chrono>

#include "common/base/clock.hpp"

namespace chipweave {

class ManualClock final : public Clock {
 public:
  Steady now() const override { return steady_; }
  Wall wall() const override { return wall_; }
  void advance(std::chrono::nanoseconds by) {
    steady_ += std::chrono::duration_cast<Steady::duration>(by);
    wall_ += std::chrono::duration_cast<Wall::duration>(by);
  }

 private:
  Steady steady_{};
  Wall wall_{std::chrono::seconds(1767323045)};  // 2026-01-02T03:04:05Z
};

}  // namespace chipweave
