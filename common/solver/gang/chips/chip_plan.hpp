// ChipPlan — a gang's plan down to the chips: which chips each pod gets on its node, and the
// predicted bandwidth of the whole gang.
//
// Nodes with a known machine take no more pods than can have legal chips together. Among plans with
// as many pods on as few domains and nodes, the one is taken whose slowest node is fastest, since a
// ring runs at the rate of its slowest member.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/collectives/all_reduce.hpp"
#include "common/solver/collectives/all_to_all.hpp"
#include "common/solver/gang/chips/gang_bandwidth.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct ChipPlan {
  domain::Plan plan;
  // By position in plan.pods: chip indices, ascending; empty if the machine is not known.
  std::vector<std::vector<int>> chips;
  // Likewise: the same chips along their widest ring, for a rank file; empty for fewer than 3
  // chips.
  std::vector<std::vector<int>> rings;
  GangBandwidth bandwidth;
  std::optional<AllReduce> all_reduce;
  AllToAll all_to_all;
};

// Lowers each node's max_pods to the pods that can have legal chips there. Uniform pods only.
void limit_by_chips(Fabric& fabric, const NodeMachines& machines, const domain::Gang& gang);

// plan_gang(), and of equally good plans the one whose slowest node is fastest. Cost: that of
// plan_gang() for each of at most kMaxNodeRates distinct node rates.
domain::Plan plan_on_fast_nodes(const Fabric& fabric, const std::vector<std::string>& level_names,
                                const domain::Gang& gang, const NodeMachines& machines,
                                const std::vector<std::optional<double>>& level_gbps = {});

// Chooses the chips of a plan's pods. level_gbps: GB/s of a node across each level, where known.
// The plan no longer fits if the free chips of a node cannot be split legally. Cost: that of
// choose_for_pods() for each used node.
ChipPlan assign_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                      const domain::Gang& gang, const NodeMachines& machines,
                      const std::vector<std::optional<double>>& level_gbps, domain::Plan plan);

}  // namespace chipweave::solver
