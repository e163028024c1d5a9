// What a planned gang leaves to those that are planned after it, and to its own repair.
#pragma once

#include "cli/plan/plan_engine.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {

// Takes the chips that a plan gives to pods from the nodes of `to`, which has the same nodes as
// `from`, or more. Chips of a gang on several nodes are those of a job that communicates over the
// network (loaded_chips).
void take_chips(const PlanEngine::Decided& decided, const codec::PlanRequest& from,
                const PlanEngine::Prepared& prepared, codec::PlanRequest& to);

}  // namespace chipweave::cli
