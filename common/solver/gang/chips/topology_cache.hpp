// TopologyCache — one NodeTopology for all nodes that the plan of a gang cannot tell apart: with
// the same wiring, link health and rule (machine_cache.hpp), and the same adapters.
//
// Plans sort nodes into classes by these objects (NodeMachine::topology), so thousands of nodes of
// a kind must share one. What only identifies a machine (UUIDs, addresses) is that of any of them.
// Owner: the scheduler's loop. An object lives as long as a node holds it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

class TopologyCache {
 public:
  // O(chips² + adapters) for the key and a look-up.
  std::shared_ptr<const domain::NodeTopology> get(const domain::NodeTopology& topology);

 private:
  std::map<std::string, std::weak_ptr<const domain::NodeTopology>> known_;
};

}  // namespace chipweave::solver
