// VendorPlan — a gang with a vendor's keys: planned by the constraints that they stand for
// (vendor_rules), or by leaf switches (tor_affinity).
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "common/domain/vendor_job.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

struct VendorPlan {
  domain::Plan plan;
  std::vector<domain::LeafUse> leaves;  // if planned by leaf switches: those used
};

// Errors: invalid_argument, with the key as context, where the vendor's own scheduler would reject
// the job.
Result<VendorPlan> plan_vendor_gang(const Fabric& fabric,
                                    const std::vector<std::string>& level_names,
                                    const domain::Gang& gang, domain::VendorJob job);

}  // namespace chipweave::solver
