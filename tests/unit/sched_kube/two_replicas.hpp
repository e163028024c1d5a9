// TwoReplicas — two schedulers that elect a leader, before one simulated API server.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::testing {

class TwoReplicas {
 public:
  KubeWorld a{"a"};
  KubeWorld b{"b", &a};

  std::array<KubeWorld*, 2> all() { return {&a, &b}; }

  // Time goes by in steps, so that a Lease can be renewed in it. silent: no watch brings anything,
  // and no request but those of the election is answered.
  enum class Watches { silent, fed };
  void pass(std::chrono::milliseconds time, Watches watches = Watches::fed) {
    constexpr std::chrono::milliseconds kStep{50};
    while (time.count() > 0) {
      const auto step = std::min(time, kStep);
      time -= step;
      a.clock.advance(step);
      a.api.pass(step);
      for (KubeWorld* each : all()) {
        if (each->scheduler) each->tick();
      }
      if (watches == Watches::fed) a.feed_all();
    }
  }
  void come_to_rest() {
    a.api.settle();
    for (int second = 0; second < 200; ++second) {
      pass(std::chrono::seconds(1));
      a.api.settle();
    }
  }
};

}  // namespace chipweave::sched::testing
