// Renders the gangs of a scheduler as tables.
#pragma once

#include <string>
#include <vector>

#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::cli {

// One line a gang.
std::string render_gangs(const std::vector<codec::GangSummary>& gangs, bool colours);
// The same, and the plan of each, rank by rank.
std::string render_whole_gangs(const std::vector<codec::GangSummary>& gangs, bool colours);

}  // namespace chipweave::cli
