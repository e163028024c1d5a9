// PlanEngine — answers `chipweave plan` requests with the gang planner of common/solver, including
// node topologies and vendor rules if the request has them.
//
// A machine used by several nodes is read and prepared once. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/domain/rate_overlay.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/rails/rail_leaves.hpp"

namespace chipweave::cli {

class PlanEngine {
 public:
  // overlays: constants that replace those of the machines that they match.
  explicit PlanEngine(std::vector<domain::RateOverlay> overlays = {})
      : overlays_(std::move(overlays)) {}

  // State that a scheduler keeps between decisions; --timing does not include building it.
  struct Prepared {
    solver::Fabric fabric;
    // The switches alone, if the accelerator domains do not nest in the switch domains.
    std::optional<solver::Fabric> switches;
    solver::NodeMachines machines;
    solver::RailLeaves leaves;
  };
  Result<Prepared> prepare(const codec::PlanRequest& request);
  // The machine that nodes of requests name so, instead of a profile or file.
  void add_machine(std::string name, const domain::NodeTopology& topology);

  struct Decided {
    domain::Plan plan;
    codec::PlanDetails details;
  };
  // The plan with ranks and chips. Errors: requests that the vendor's own scheduler would refuse.
  static Result<Decided> decide(const codec::PlanRequest& request, const Prepared& prepared);
  // The node's machine with what the gang may use of it.
  Result<solver::NodeMachine> machine_of(const codec::PlanNode& node, const domain::Gang& gang,
                                         domain::GangNodeId id);

 private:
  std::vector<domain::RateOverlay> overlays_;
  std::map<std::string, std::shared_ptr<solver::Machine>> machines_;  // by name
};

codec::PlanOutcome outcome_of(const PlanEngine::Decided& decided);

}  // namespace chipweave::cli
