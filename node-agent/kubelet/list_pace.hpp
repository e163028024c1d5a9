// ListPace — when to ask the kubelet for the devices of its pods. No clock, no timer: those are
// PodResourcesClient's.
//
// A List while the kubelet waits for a device plugin's Allocate can hand one chip to two pods: the
// kubelet then recomputes which devices are allocated, without those that it is about to allocate.
// So the agent asks when something has changed and settled since, and otherwise rarely.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/backoff.hpp"

namespace chipweave::agent {

class ListPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ms = std::chrono::milliseconds;
  struct Gaps {
    Ms settle{2'000};  // never sooner after a change
    Ms least{10'000};  // never more often, whatever happens
    Ms most{60'000};   // without a change, minus up to a quarter
  };

  // The start counts as a change. random: for the jitter.
  ListPace(Gaps gaps, Backoff::Random random, Time now)
      : gaps_(gaps), random_(std::move(random)), changed_(now) {}

  // The devices of pods may have changed.
  void changed(Time now) {
    changed_ = now;
    pending_ = true;
  }
  // A request begins.
  void asked(Time now) {
    soonest_ = now + gaps_.least;
    latest_ = now + std::chrono::duration_cast<Ms>(gaps_.most * (1 - random_() / 4));
    pending_ = false;
  }
  // It brought no answer.
  void failed() { pending_ = true; }

  // When to ask next.
  Time due() const { return std::max(changed_ + gaps_.settle, pending_ ? soonest_ : latest_); }

 private:
  Gaps gaps_;
  Backoff::Random random_;
  Time changed_;
  Time soonest_ = Time::min();
  Time latest_ = Time::min();
  bool pending_ = true;
};

}  // namespace chipweave::agent
