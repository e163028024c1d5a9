// Which built-in profile the devices of a log belong to, where that is certain.
#pragma once

#include <string>
#include <vector>

#include "cli/calibrate/calibration.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// The only profile of that model with enough chips. Errors say that --machine is required and name
// what it could be.
Result<std::string> machine_of(const std::vector<ParsedLog>& logs);

}  // namespace chipweave::cli
