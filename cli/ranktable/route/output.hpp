// The files of `route plan --out`: tables, the plan, ConfigMaps that contain them, and annotation
// values.
#pragma once

#include <string>
#include <vector>

#include "cli/ranktable/route/answer.hpp"
#include "cli/ranktable/route/commands.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Creates the folder, writes the files, and removes tables and a plan of an earlier call that are
// not among them. switches: topology is passed on. Returns warnings.
Result<std::vector<std::string>> write_plan_files(const RoutePlanFlags& flags, bool switches,
                                                  RouteInputs& inputs, const RouteAnswer& answer);

}  // namespace chipweave::cli
