// The settings gang-kinds and gate-frameworks, for the table in config.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

Result<void> set_gang_kinds(Config& config, const std::vector<std::string>& values);
Result<void> set_gate_frameworks(Config& config, const std::vector<std::string>& values);

}  // namespace chipweave::sched
