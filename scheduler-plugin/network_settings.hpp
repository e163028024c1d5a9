// The settings network-…, for the table in config.cpp and check_config().
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

Result<void> set_network_sources(Config& config, const std::vector<std::string>& values);
std::vector<std::string> show_network_sources(const Config& config);
Result<void> set_network_levels(Config& config, const std::vector<std::string>& values);
Result<void> set_network_config_map(Config& config, const std::vector<std::string>& values);
std::vector<std::string> show_network_config_map(const Config& config);

// Errors: settings that contradict each other.
Result<void> check_network(const Config& config);

}  // namespace chipweave::sched
