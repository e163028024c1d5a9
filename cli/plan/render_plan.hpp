// Renders the plan of a gang that fits: how many pods, in how many domains, which ranks on which
// node.
#pragma once

#include <cstddef>
#include <string>

#include "cli/terminal.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/domain/gang.hpp"

namespace chipweave::cli {

// Nodes listed on a terminal; for a longer plan the output says how many are left out.
inline constexpr std::size_t kMaxPlanRows = 40;

// One row per node, or one per role or subgroup on it, ordered by lowest rank, with the chips of
// all its pods. No line is longer than `columns`: of many non-consecutive ranks only the first
// are shown.
std::string render_plan(const codec::PlanRequest& request, const domain::Plan& plan,
                        const codec::PlanDetails& details = {},
                        std::size_t columns = output_columns());

// Why the plan is as it is, and what else would be possible.
std::string render_explanation(const codec::PlanRequest& request,
                               const codec::PlanExplanation& explanation);

// The line above the plan of one gang of several.
std::string gang_title(const std::string& name, int priority);

}  // namespace chipweave::cli
