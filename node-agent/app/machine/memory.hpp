// What the agent's previous run has left in the node's inventory, in the terms of this run. Pure.
//
// An agent that starts knows less than the one that ended: drivers number only the chips that
// respond, so a missing one is not noticed; what is held heals by itself; and the orders of
// operators are on a Node that may not be readable at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/observation.hpp"
#include "common/domain/remembered_node.hpp"
#include "node-agent/app/health/operator_faults.hpp"

namespace chipweave::agent {

// The machine as it was known, with nothing wrong: what is wrong with it, this run finds out. Of
// basis bus, if that is all that was known. nullopt: no machine is remembered, or one of an earlier
// boot from whose chips an operator has removed one. Errors: a topology
// that the builder refuses.
Result<std::optional<domain::Observation>> remembered_machine(const domain::RememberedNode& node);

// Faults that the judge can hold, with the indices of `now`: those of present chips, in the same
// boot of the node. Neither those of operators nor of reading the hardware.
std::vector<domain::Fault> remembered_faults(const domain::RememberedNode& node,
                                             const domain::NodeTopology& now);

// What operators had ordered, and since when (Unix time in ms; 0: no order).
struct RememberedCordon {
  Cordon cordon;
  std::int64_t since = 0;
};
RememberedCordon remembered_cordon(const domain::RememberedNode& node,
                                   const domain::NodeTopology& now);
struct RememberedMaintenance {
  std::optional<std::string> reason;
  std::int64_t since = 0;
};
RememberedMaintenance remembered_maintenance(const domain::RememberedNode& node);

}  // namespace chipweave::agent
