// The settings rank-table… and clusterd, for the table in config.cpp and check_config().
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

std::vector<Setting> rank_table_settings();

// Errors: settings that contradict each other.
Result<void> check_rank_tables(const Config& config);

}  // namespace chipweave::sched
