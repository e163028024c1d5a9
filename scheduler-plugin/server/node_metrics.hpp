// NodeMetrics — the per-node gauges (docs/reference/metrics.md) in the exposition format.
//
// Owner: the loop thread. A scrape walks the nodes once a family: some 10 ms at 10,000 nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

class NodeMetrics {
 public:
  std::string expose(const Scheduler& scheduler);

 private:
  // Which of a machine's sizes still fit.
  struct Placeable {
    std::uint64_t serial = 0;  // of the state it was found for; no state has 0
    int largest = 0;
    int sizes = 0;
  };
  const Placeable& placeable(const NodeTable& nodes, NodeId id);

  std::vector<Placeable> placeable_of_;  // by state id
};

}  // namespace chipweave::sched
