// The key `vendor` of a gang: what users of a vendor's scheduler write on a job
// (docs/reference/vendor-gang-rules.md). Internal to common/codec.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/json/json_object.hpp"
#include "common/domain/vendor_job.hpp"

namespace chipweave::codec {

// Position of the level that the key names; nullopt if it is absent or wrong.
std::optional<int> read_level(const JsonObject& object, std::string_view key,
                              const std::vector<std::string>& levels);

// Strict: an unknown key, a wrong type or a level that the network does not have is a problem that
// names the key. Levels that are not named default to domain::default_vendor_levels().
// solver::vendor_constraints() checks the values against each other and against the job's size.
domain::VendorJob read_vendor_keys(JsonValue value, const std::vector<std::string>& levels,
                                   JsonProblems& problems);

}  // namespace chipweave::codec
