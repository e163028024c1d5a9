// The settings about gangs, for the table in config.cpp.
#pragma once

#include <vector>

#include "scheduler-plugin/config.hpp"

namespace chipweave::sched {

std::vector<Setting> gang_settings();

}  // namespace chipweave::sched
