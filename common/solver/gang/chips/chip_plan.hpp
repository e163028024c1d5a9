// ChipPlan — a gang's plan down to the chips: which chips each pod gets on its node, and how fast
// the whole gang can be.
//
// Nodes whose machine is known take no more pods than can have legal chips together. Among plans
// that place as many pods on as few domains and nodes, the one is taken whose slowest node has the
// fastest chips, for a ring runs at the pace of its slowest member.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/domain/node_topology.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/gang/chips/gang_bandwidth.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct NodeMachine {
  std::shared_ptr<Machine> machine;                      // shared by nodes of one wiring
  std::shared_ptr<const domain::NodeTopology> topology;  // the node's own: with its adapters
  ChipSet free;
};
using NodeMachines = std::unordered_map<FabricNodeId, NodeMachine>;

struct ChipPlan {
  domain::Plan plan;
  // By position in plan.pods: chip indices, ascending; empty where the machine is not known.
  std::vector<std::vector<int>> chips;
  // Likewise: the same chips along their widest ring, for a rank file; empty for fewer than three.
  std::vector<std::vector<int>> rings;
  GangBandwidth bandwidth;
};

// Lowers each node's max_pods to what can have legal chips there. For pods that are all alike.
void limit_by_chips(Fabric& fabric, const NodeMachines& machines, const domain::Gang& gang);

// plan_gang(), and of plans that are as good the one of the fastest nodes. Cost: that of
// plan_gang() for each of at most kMaxNodeRates paces of nodes.
domain::Plan plan_on_fast_nodes(const Fabric& fabric, const std::vector<std::string>& level_names,
                                const domain::Gang& gang, const NodeMachines& machines);

// The chips of a plan's pods. level_gbps: what a node gets across each level, where known. The plan
// does not fit any more where a node's free chips cannot be dealt out legally. Cost: that of
// choose_for_pods() for each used node.
ChipPlan deal_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                    const domain::Gang& gang, const NodeMachines& machines,
                    const std::vector<std::optional<double>>& level_gbps, domain::Plan plan);

}  // namespace chipweave::solver
