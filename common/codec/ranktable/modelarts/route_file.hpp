// route_plan.json — a finished route plan next to the tables, so that all pods of the job read the
// same plan.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

inline constexpr std::string_view kRoutePlanFile = "route_plan.json";

// {"version":"1.0","status":"completed","master_index":M,"ranks":[…]}, ranks by pod index.
std::string write_route_plan(const std::vector<std::size_t>& rank_of);

// The rank of each pod. Errors: not a permutation of 0 to N - 1, or master_index does not have rank
// 0.
Result<std::vector<std::size_t>> read_route_plan(std::string_view json);

}  // namespace chipweave::codec
