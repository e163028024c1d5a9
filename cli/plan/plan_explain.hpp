// Why a plan is as it is: what bound it, the best plan on other nodes, what each constraint costs,
// and what would happen if a node failed. Every figure is that of a plan of a changed request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/plan/plan_engine.hpp"
#include "common/base/result.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {

// Nodes of a plan whose absence is tried, for the runner-up and for failures each; of nodes of one
// pool in the same state only the first one is tried for the runner-up.
inline constexpr std::size_t kMaxNodesTried = 64;

// if_fails: names of nodes; empty: all of the plan, at most kMaxNodesTried. The runner-up is exact
// if all nodes of the plan were tried: any plan on other nodes lacks one of them, or has more
// nodes. Cost: some hundred plans at most. Errors: a name that is not a node of the plan.
Result<codec::PlanExplanation> explain_plan(PlanEngine& engine, const codec::PlanRequest& request,
                                            const PlanEngine::Prepared& prepared,
                                            const PlanEngine::Decided& decided,
                                            const std::vector<std::string>& if_fails);

}  // namespace chipweave::cli
