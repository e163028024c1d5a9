// MindCluster's table of fault codes as rules of the health policy, so that a site that has one
// need not write it again.
#pragma once

#include <vector>

#include "common/codec/ascend/fault_levels.hpp"
#include "common/domain/health_policy.hpp"

namespace chipweave::agent {

// A rule for each code, "dcmi.80e01801". Notes: NotHandleFault, SubHealthFault, RestartRequest.
// Codes of the network: the chip is of no use to distributed pods. Everything else: given to
// nobody as long as the code stands, and ten seconds more; separated by hand: until a reset.
std::vector<domain::HealthRule> rules_of(const codec::ascend::FaultTable& table);

}  // namespace chipweave::agent
