// PlanEngine — answers `chipweave plan` requests with the planner that the scheduler holds: fabric,
// machines of its nodes where they are named, a vendor's rules where the gang has them.
//
// Machines that are named several times are read and prepared once. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "common/solver/gang/chips/chip_plan.hpp"

namespace chipweave::cli {

class PlanEngine {
 public:
  // What a scheduler holds ready: what a timed decision starts from.
  struct Prepared {
    solver::Fabric fabric;
    // The switches alone, where the accelerators' domains do not nest in theirs.
    std::optional<solver::Fabric> switches;
    solver::NodeMachines machines;
  };
  Result<Prepared> prepare(const codec::PlanRequest& request);

  struct Decided {
    domain::Plan plan;
    codec::PlanDetails details;
  };
  // Ranks and chips included. Errors: what a vendor's own scheduler would refuse.
  static Result<Decided> decide(const codec::PlanRequest& request, const Prepared& prepared);

 private:
  Result<solver::NodeMachine> machine_of(const codec::PlanNode& node);

  std::map<std::string, std::shared_ptr<const domain::NodeTopology>> topologies_;  // by name
  std::map<std::string, std::shared_ptr<solver::Machine>> machines_;               // likewise
};

}  // namespace chipweave::cli
