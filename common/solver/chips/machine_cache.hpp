// MachineCache — one Machine per topology class: nodes with the same wiring, link health and rule
// share it.
//
// The key is canonical: everything a decision depends on and nothing else (no UUIDs, names or
// addresses). Owner: the scheduler's loop. A Machine lives as long as a node holds it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

// Equal for two topologies if and only if they can share a Machine; bytes, not text.
std::string topology_class_key(const domain::NodeTopology& topology);

class MachineCache {
 public:
  // O(chips²) for the key and a look-up; a new class also costs its construction.
  std::shared_ptr<Machine> get(const domain::NodeTopology& topology);
  std::size_t classes() const { return machines_.size(); }

 private:
  std::map<std::string, std::weak_ptr<Machine>> machines_;
};

}  // namespace chipweave::solver
