// NodeMetrics — the per-node gauges (docs/reference/metrics.md) in the exposition format.
//
// Owner: the loop thread. A scrape walks the nodes once a family, in parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

class NodeMetrics {
 public:
  static constexpr int kFamilies = 8;
  // The samples of the nodes from `first` on, `most` at most, of a family; with its header at 0.
  std::string expose(const Scheduler& scheduler, int family, NodeId first, NodeId most);

 private:
  // Which of a machine's sizes still fit.
  struct Placeable {
    std::uint64_t serial = 0;  // serial of the state it was found for; no state has 0
    int largest = 0;
    int sizes = 0;
  };
  const Placeable& placeable(const NodeTable& nodes, NodeId id);

  std::vector<Placeable> placeable_of_;  // by state id
};

}  // namespace chipweave::sched
