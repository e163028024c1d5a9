// simulate for gangs: reads network and jobs, or draws these, replays them by each policy, and
// prints the report.
#pragma once

#include "cli/commands.hpp"
#include "cli/simulate/gangs/gang_flags.hpp"
#include "cli/simulate/replay_flags.hpp"

namespace chipweave::cli {

Exit run_gang_simulation(const GangFlags& flags, const ReplayFlags& replay);

}  // namespace chipweave::cli
