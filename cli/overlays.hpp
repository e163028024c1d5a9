// The option --overlay of the commands that predict bandwidths.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/rate_overlay.hpp"

namespace chipweave::cli {

// --overlay FILE|FOLDER, any number of times. Returns it.
CLI::Option* add_overlay_option(CLI::App& command, std::vector<std::string>& paths);

// All of them; errors name the file, or two files that contradict each other.
Result<std::vector<domain::RateOverlay>> overlays_at(const std::vector<std::string>& paths);

}  // namespace chipweave::cli
