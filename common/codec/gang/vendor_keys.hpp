// The key `vendor` of a gang: what users of a vendor's scheduler write on a job
// (docs/concepts/vendor-gang-rules.md). Internal to common/codec.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/json/json_object.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::codec {

struct VendorKeys {
  domain::VendorLevels levels;
  std::optional<domain::AscendRequest> ascend;
  std::optional<domain::TorRequest> tor;
  std::map<std::string, domain::TorState> leaf_states;  // by leaf, as the request names it
  std::optional<domain::NvlinkRequest> nvlink;
};

// Strict: an unknown key, a wrong type or a level that the network does not have is a problem that
// names the key. Levels that are not named default to domain::default_vendor_levels().
// solver::vendor_constraints() checks the values against each other and against the job's size.
VendorKeys read_vendor_keys(JsonValue value, const std::vector<std::string>& levels,
                            JsonProblems& problems);

}  // namespace chipweave::codec
