// The network as JSON, for GET /api/v1/network (docs/reference/http.md): as of the scheduler's last
// tick.
#pragma once

#include <string>

#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

std::string network_json(const Network& network);

}  // namespace chipweave::sched
