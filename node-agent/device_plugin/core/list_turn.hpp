// ListTurn — when the kubelet may be asked for its list. Never while it is about to allocate: it
// would recompute which chips are in use without those that it is giving away, and one chip could
// go to two pods. No clock.
//
// The kubelet asks for a preferred set, then for the allocation, then records it: the list may be
// asked for before the first answer, and again a moment after the last one. One list at a time.
#pragma once

#include <algorithm>
#include <chrono>

namespace chipweave::device_plugin {

class ListTurn {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ms = std::chrono::milliseconds;
  struct Gaps {
    Ms allocate_follows{5'000};  // after the preferred set; the pod may be refused in between
    Ms recorded{200};            // after the allocation
  };

  explicit ListTurn(Gaps gaps) : gaps_(gaps) {}

  // A set has been named: an allocation follows.
  void preferred(Time now) {
    closed_until_ = std::max(closed_until_, now + gaps_.allocate_follows);
  }
  // The allocation has been answered.
  void allocated(Time now) { closed_until_ = now + gaps_.recorded; }

  // Whether a list may be asked for now. While the kubelet waits for a preferred set it may in any
  // case.
  bool open(Time now) const { return now >= closed_until_; }
  Time opens() const { return closed_until_; }

 private:
  Gaps gaps_;
  Time closed_until_ = Time::min();
};

}  // namespace chipweave::device_plugin
