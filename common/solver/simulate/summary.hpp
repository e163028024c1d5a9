// Summary — the figures of one replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/simulate/replay.hpp"

namespace chipweave::simulate {

// Mean and worst are of the same unit as the values: GB/s, seconds, ns. All 0 without values.
struct Distribution {
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double p99 = 0;
  double least = 0;
  double most = 0;
};
Distribution distribution_of(std::vector<double> values);

struct SizeSummary {
  int chips = 0;
  std::size_t arrived = 0;
  std::size_t placed = 0;
  double mean_gbps = 0;  // 0 for one chip
  double worst_gbps = 0;
  double alone_gbps = 0;  // mean over the placed pods, see alone_gbps()
};

struct Summary {
  std::size_t arrived = 0;
  std::size_t placed = 0;
  Course allocated;   // shares of the cluster's chips
  Course fragmented;  // likewise
  // Of placed pods with several chips:
  std::size_t multi_chip_arrived = 0;
  std::size_t multi_chip_placed = 0;
  double mean_gbps = 0;
  double worst_gbps = 0;
  double of_alone = 0;     // sum of GB/s as a share of what each pod would have alone
  double of_together = 0;  // the same of what no placement of all of them can exceed; 0: unknown
  std::vector<SizeSummary> sizes;  // ascending
  std::size_t waited = 0;          // placed pods that had to wait
  std::size_t never_placed = 0;
  std::size_t most_waiting = 0;
  Distribution wait_s;       // of all placed pods
  Distribution decision_ns;  // also for pods that found no room
};

// alone: by pod of the trace, see alone_gbps(). cluster: the empty one.
Summary summary_of(const Workload& workload, const Replayed& run, const std::vector<double>& alone,
                   const ModelCluster& cluster);

}  // namespace chipweave::simulate
