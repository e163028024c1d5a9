// ModelCluster — the nodes of a simulated cluster and what is free on them: chips, CPU, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/solver/chips/machine.hpp"

namespace chipweave::simulate {

using domain::ChipSet;

// What a pod requests.
struct PodShape {
  int chips = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  friend auto operator<=>(const PodShape&, const PodShape&) = default;
};

struct ModelNode {
  std::string name;
  std::string kind;                          // of its machine, for tables
  std::shared_ptr<solver::Machine> machine;  // null: a node without chips
  ChipSet free;
  std::int64_t cpu_milli = 0;  // free
  std::int64_t memory_mib = 0;

  bool has_room(const PodShape& pod) const {
    return pod.chips <= free.size() && pod.cpu_milli <= cpu_milli && pod.memory_mib <= memory_mib;
  }
};

class ModelCluster {
 public:
  // The nodes as they are when they are empty.
  explicit ModelCluster(std::vector<ModelNode> nodes);

  const std::vector<ModelNode>& nodes() const { return nodes_; }
  const std::vector<ModelNode>& empty_nodes() const { return empty_; }
  int chips() const { return chips_; }
  int free_chips() const { return free_chips_; }

  // Precondition: the node has room and the chips are free.
  void take(std::size_t node, const PodShape& pod, ChipSet chips);
  // Undoes take().
  void give_back(std::size_t node, const PodShape& pod, ChipSet chips);

 private:
  std::vector<ModelNode> nodes_;
  std::vector<ModelNode> empty_;
  int chips_ = 0;
  int free_chips_ = 0;
};

}  // namespace chipweave::simulate
