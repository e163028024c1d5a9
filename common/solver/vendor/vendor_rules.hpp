// vendor_rules — what vendors' users write on a job (domain::VendorJob) as plain constraints of a
// gang, so that the planner needs to know no vendor. The rules of validity are the vendors' own
// (MindCluster's super-pod and rack scheduling, IMEX of NVL72); a job that their scheduler would
// refuse is refused here, in words for the person who wrote it. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::solver {

// Every domain of `level` that holds pods holds a multiple of `size` of them.
struct VendorSlice {
  int level = domain::kNoLevel;
  int size = 1;  // pods
  // Wanted, not required: place as many whole slices as there is room for, then the rest of the
  // gang without this slice (without_soft_slices), beside what was placed.
  bool soft = false;
  friend bool operator==(const VendorSlice&, const VendorSlice&) = default;
};

// Soft: whole free nodes to leave in every domain of the level that is used.
struct VendorSpare {
  int level = domain::kNoLevel;
  int nodes = 0;
  friend bool operator==(const VendorSpare&, const VendorSpare&) = default;
};

struct VendorConstraints {
  int required_level = domain::kNoLevel;
  // Coarsest first, one a level, none above required_level; inner sizes divide outer ones.
  std::vector<VendorSlice> slices;
  std::optional<VendorSpare> keep_spare;
  bool whole_nodes = false;     // every pod takes all chips of its node
  bool by_leaf_switch = false;  // plan_tor() chooses the nodes (tor_affinity.hpp)
};

// Errors: invalid_argument, with the key as context ("ascend.sp_block"). Cost: O(1).
Result<VendorConstraints> vendor_constraints(const domain::VendorJob& job);

// The constraints for what remains once no more whole soft slice fits.
VendorConstraints without_soft_slices(VendorConstraints constraints);

}  // namespace chipweave::solver
