// plan_claim — what a claim is prepared with, or why it is not: its devices of this driver and node
// as chips, and what containers get for them. Pure.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"
#include "common/codec/kube/dra/prepared_claims.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/claims/exposure.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent::dra {

struct PlanContext {
  const std::string& driver;
  const std::string& pool;
  const NodeState& state;
  const Exposure& exposure;
  const HostDevices& host;
};

// Devices of other drivers are theirs. Variables: CHIPWEAVE_CHIP_N, one for each chip, which
// containers that get devices of several requests or claims have all; and the vendor's variable,
// which lists the chips where it is known that one container gets all of them, and is "void"
// otherwise: a list for each request would hide all but one of them, and a list of the claim would
// show one container the chips of another. Errors: invalid_argument (an allocation that no driver
// of this node could have offered), conflict (an unhealthy chip), not_found (no such device or
// device node), unsupported (shares, admin access).
Result<codec::PreparedClaim> plan_claim(const codec::DraClaim& claim, const PlanContext& context);

}  // namespace chipweave::agent::dra
