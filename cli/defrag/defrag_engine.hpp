// DefragEngine — answers `chipweave defrag` requests: moves by the solver, chips of the moved pods,
// and what is gained, for a gang of the request by PlanEngine.
//
// A machine used by several nodes is read and prepared once. Not thread-safe.
#pragma once

#include <utility>
#include <vector>

#include "cli/plan/plan_engine.hpp"
#include "common/base/result.hpp"
#include "common/codec/gang/defrag_codec.hpp"
#include "common/domain/rate_overlay.hpp"
#include "common/solver/gang/defrag/defrag.hpp"
#include "common/solver/gang/defrag/defrag_chips.hpp"
#include "common/solver/gang/defrag/whole_nodes.hpp"

namespace chipweave::cli {

class DefragEngine {
 public:
  // overlays: constants that replace those of the machines that they match.
  explicit DefragEngine(std::vector<domain::RateOverlay> overlays = {})
      : plans_(std::move(overlays)) {}

  // The cluster as it is. FabricNodeIds are positions in the request's nodes.
  struct Prepared {
    solver::Fabric fabric;
    int first_level = 0;  // of the request's levels: the fabric's level 0
    solver::NodeMachines machines = {};
    std::vector<solver::DefragPod> pods = {};
    std::vector<solver::PodChips> chips = {};  // by pod
    std::vector<solver::FabricNodeId> occupied = {};
    std::vector<solver::ChipUse> uses = {};
    std::vector<int> vendors = {};  // by node, numbered; 0: the machine is not known
  };
  Result<Prepared> prepare(const codec::DefragLineRequest& request);

  // Everything but what the gang of the request gains.
  static codec::DefragAnswer decide(const codec::DefragLineRequest& request,
                                    const Prepared& prepared);

  // Plans the gang without and with the moves. Errors: as PlanEngine's.
  Result<void> plan_gang(const codec::DefragLineRequest& request, const Prepared& prepared,
                         codec::DefragAnswer& answer);

 private:
  Result<codec::PlanOutcome> outlook(const codec::PlanRequest& request);

  PlanEngine plans_;
};

}  // namespace chipweave::cli
