// TwoReplicas — two schedulers that elect a leader, in front of one simulated API server.
#pragma once

#include <array>
#include <chrono>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {

class TwoReplicas {
 public:
  KubeWorld a{"a"};
  KubeWorld b{"b", &a};

  std::array<KubeWorld*, 2> all() { return {&a, &b}; }

  // Advances in small steps, so that a Lease can be renewed in between. stalled: no watch delivers
  // anything, and only requests of the election are answered.
  enum class Watches { stalled, fed };
  void pass(std::chrono::milliseconds time, Watches watches = Watches::fed);
  void come_to_rest();
};

}  // namespace chipweave::sched::test
