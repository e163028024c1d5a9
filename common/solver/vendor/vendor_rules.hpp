// vendor_rules — translates vendors' placement keys on a job (domain::VendorJob) into plain
// constraints of a gang, so that the planner is vendor-neutral. Validity follows the vendors' own
// rules (MindCluster's super-pod and rack scheduling, IMEX of NVL72): a job that their scheduler
// would reject is rejected here, with a message for its author. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::solver {

// Every domain of `level` that holds pods holds a multiple of `size` of them.
struct VendorSlice {
  int level = domain::kNoLevel;
  int size = 1;  // pods
  // Preferred, not required: place as many whole slices as fit, then the rest of the gang without
  // this slice (without_soft_slices), next to them.
  bool soft = false;
  friend bool operator==(const VendorSlice&, const VendorSlice&) = default;
};

struct VendorConstraints {
  int required_level = domain::kNoLevel;
  // Coarsest first, one per level, none above required_level; inner sizes divide outer ones.
  std::vector<VendorSlice> slices;
  std::optional<domain::Spare> keep_spare;
  bool whole_nodes = false;     // every pod takes all chips of its node
  bool by_leaf_switch = false;  // plan_tor() chooses the nodes (tor_affinity.hpp)
};

// Errors: invalid_argument, with the key as context ("ascend.sp_block"). Cost: O(1).
Result<VendorConstraints> vendor_constraints(const domain::VendorJob& job);

// The constraints for the rest once no further whole soft slice fits.
VendorConstraints without_soft_slices(VendorConstraints constraints);

}  // namespace chipweave::solver
