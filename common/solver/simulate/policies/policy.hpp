// Policy — which node and which chips a pod of a simulated cluster gets: chipweave's own decision
// and what other systems do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/domain/trace.hpp"
#include "common/solver/nodes/node_score.hpp"
#include "common/solver/simulate/cluster/fragmentation.hpp"
#include "common/solver/simulate/cluster/model_cluster.hpp"

namespace chipweave::simulate {

struct Spot {
  std::size_t node = 0;
  ChipSet chips;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // The pod's place on one of these nodes; nullopt: none has room.
  virtual std::optional<Spot> place(const domain::TracePod& pod,
                                    std::span<const std::size_t> nodes) = 0;
  // A node has changed.
  virtual void changed(std::size_t /*node*/) {}
};

// What the policies look at; it outlives them.
struct PolicyContext {
  const ModelCluster& cluster;
  const std::vector<RequestClass>& mix;
  const Fragmentation& fragmentation;        // of the cluster, always up to date
  const solver::NodePreference& preference;  // of chipweave
  // kube-scheduler asks chipweave about pods with chips only (managedResources).
  bool managed_only = false;
};

struct NamedPolicy {
  std::string_view name;
  std::string_view help;  // how it chooses
  std::unique_ptr<Policy> (*make)(const PolicyContext& context);
};
// In the order of reports; "chipweave" is last.
const std::vector<NamedPolicy>& policies();

}  // namespace chipweave::simulate
