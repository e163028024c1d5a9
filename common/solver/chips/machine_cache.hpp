// MachineCache — one Machine per topology class: nodes with the same wiring, link health and rule
// share it.
//
// The key is canonical: everything a decision depends on, nothing else (no uuids, names or
// addresses). Owner: the scheduler's loop. Machines live as long as a node holds them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

// The bytes that tell two wirings apart.
std::string topology_class_key(const domain::NodeTopology& topology);

class MachineCache {
 public:
  // O(chips²) for the key, then a look-up; a new class costs its construction.
  std::shared_ptr<Machine> get(const domain::NodeTopology& topology);
  std::size_t classes() const { return machines_.size(); }

 private:
  std::map<std::string, std::weak_ptr<Machine>> machines_;
};

}  // namespace chipweave::solver
