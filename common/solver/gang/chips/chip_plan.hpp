// ChipPlan — a gang's plan down to the chips: which chips each pod gets on its node, and the
// predicted bandwidth of the whole gang.
//
// Nodes with a known machine take no more pods than can have legal chips together. Among plans with
// as many pods on as few domains and nodes, the one is taken whose predicted bandwidth is highest.
#pragma once

#include <functional>
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
  GangBandwidth bandwidth;  // of the whole gang, running pods included
  std::optional<AllReduce> all_reduce = std::nullopt;
  AllToAll all_to_all = {};
  // Pods whose chips cannot be dealt legally on a node: the plan does not fit for that reason.
  struct Undealt {
    FabricNodeId node = kNowhere;
    std::vector<int> sizes;  // chips of each pod
  };
  std::optional<Undealt> undealt = std::nullopt;
};

// Restricts each node to pods that can have legal chips there together: by its max_pods where all
// pods have the same size, else by the fabric's ChipFit.
void limit_by_chips(Fabric& fabric, const NodeMachines& machines, const domain::Gang& gang);

// How often a gang is planned again because the chips of a node could not be dealt.
inline constexpr int kMaxDeals = 16;

// plan() and assign_chips(); where the chips of a node cannot be dealt, again without those pods on
// such nodes, at most kMaxDeals times. plan: called with the fabric to plan on.
Result<ChipPlan> plan_down_to_chips(const Fabric& fabric,
                                    const std::vector<std::string>& level_names,
                                    const domain::Gang& gang, const NodeMachines& machines,
                                    const std::vector<std::optional<double>>& level_gbps,
                                    const std::function<Result<domain::Plan>(const Fabric&)>& plan);

// Chooses the chips of a plan's pods. level_gbps: GB/s of a node across each level, where known.
// For all_to_all the chips that bandwidth chooses count where they exchange faster. The plan no
// longer fits if the free chips of a node cannot be split legally. Cost: that of choose_for_pods()
// for each used node, twice for all_to_all.
ChipPlan assign_chips(const Fabric& fabric, const std::vector<std::string>& level_names,
                      const domain::Gang& gang, const NodeMachines& machines,
                      const std::vector<std::optional<double>>& level_gbps, domain::Plan plan);

// The same for another objective than the gang's, by whose chips alone.
ChipPlan assign_chips_for(domain::Objective objective, const Fabric& fabric,
                          const std::vector<std::string>& level_names, const domain::Gang& gang,
                          const NodeMachines& machines,
                          const std::vector<std::optional<double>>& level_gbps, domain::Plan plan);

}  // namespace chipweave::solver
