// The per-pod gauges (docs/reference/metrics.md) in the exposition format: predicted and measured
// bandwidth of each placed pod with several chips. At most one series of each for two chips of the
// cluster.
//
// Owner: the loop thread. A scrape walks the pods once a family, in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

inline constexpr int kPodFamilies = 2;

// Appends the samples of the pods that arrived after `arrival`, `most` at most, of a family, with
// its header at 0, and moves `arrival` on. False: that was the last part.
bool expose_pods(const Scheduler& scheduler, int family, std::size_t most, std::uint64_t& arrival,
                 std::string& out);

}  // namespace chipweave::sched
