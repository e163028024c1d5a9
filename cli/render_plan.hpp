// The page of a gang that fits: how much of it, in how many domains, and which ranks on which node.
#pragma once

#include <cstddef>
#include <string>

#include "common/codec/gang/plan_codec.hpp"
#include "common/domain/gang.hpp"

namespace chipweave::cli {

// Nodes that the page lists; of a longer plan it says how many are left out.
inline constexpr std::size_t kMaxPlanRows = 40;

// A node is a row, or several where it has pods of several roles or subgroups, by their lowest
// rank; its chips are those of all pods of the row. No line is longer than kMaxColumns: of many
// ranks that do not follow each other only the first are shown.
std::string render_plan(const codec::PlanRequest& request, const domain::Plan& plan,
                        const codec::PlanDetails& details = {});

}  // namespace chipweave::cli
