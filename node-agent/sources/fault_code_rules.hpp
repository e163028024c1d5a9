// MindCluster's table of fault codes as rules of the health policy, so that a site that has such a
// table need not rewrite it.
#pragma once

#include <vector>

#include "common/codec/ascend/fault_levels.hpp"
#include "common/domain/health_policy.hpp"

namespace chipweave::agent {

// One rule per code, "dcmi.80e01801". Effect `note` for NotHandleFault, SubHealthFault and
// RestartRequest; `network` for codes of the network; `unusable` for everything else while the code
// is active and ten seconds longer, or, at ManuallySeparateNPU, until a reset.
std::vector<domain::HealthRule> rules_of(const codec::ascend::FaultTable& table);

}  // namespace chipweave::agent
