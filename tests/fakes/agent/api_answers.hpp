// Answers of an API server to an agent, and the smallest state to report.
#pragma once

#include <string>

#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// One chip, of that health.
NodeStatePtr state(domain::Health health = domain::Health::healthy);

std::string failure(int code, const std::string& message);

// sequence 0: no status has been written yet.
std::string object(const std::string& version, const std::string& boot, int sequence,
                   bool owned = true);

inline const std::string kNode = R"({"metadata":{"uid":"node-uid","resourceVersion":"1"}})";

}  // namespace chipweave::agent
