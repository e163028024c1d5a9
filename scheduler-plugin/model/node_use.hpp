// NodeUse — CPU and memory of a node, or the part of them that pods request.
#pragma once

#include <cstdint>

namespace chipweave::sched {

struct NodeUse {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;  // bytes
  NodeUse operator-() const { return {-milli_cpu, -memory}; }
  NodeUse& operator+=(const NodeUse& more) {
    milli_cpu += more.milli_cpu;
    memory += more.memory;
    return *this;
  }
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

}  // namespace chipweave::sched
