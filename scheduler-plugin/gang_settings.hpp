// The settings gang-kinds, gate-frameworks and gang-preemption, for the table in config.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

Result<void> set_gang_kinds(Config& config, const std::vector<std::string>& values);
Result<void> set_gate_frameworks(Config& config, const std::vector<std::string>& values);
Result<void> set_gang_preemption(Config& config, const std::vector<std::string>& values);
std::vector<std::string> show_gang_preemption(const Config& config);

}  // namespace chipweave::sched
