// Placement — the chips that a bound pod has.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

// The chips of a bound pod according to its annotations (chipweave.dev/placement, or what other
// schedulers and the kubelet write).
struct Placement {
  std::string node;
  std::string uid;  // of the pod it was decided for
  std::string resource;
  std::vector<int> chips;  // vendor indices, ascending
  double gbps = 0;
  std::string decision;  // empty: not one of chipweave's
  Clock::Wall time{};
};

// A bound pod whose chips are known, and which they are.
struct PlacedPod {
  PodKey pod;
  Placement placement;
  double best_gbps = 0;  // 0: its machine is not known
};

}  // namespace chipweave::sched
