// Prints a ChipUse: for people, for `eval`, as arguments of docker, as JSON.
#pragma once

#include <string>

#include "cli/place/chip_use.hpp"

namespace chipweave::cli {

// Ring, environment, binding, and a row per chip.
std::string render_chip_use(const ChipUse& use);
// `export NAME='value'` lines, which a POSIX shell evaluates to exactly these values.
std::string export_lines(const ChipUse& use);
// One line of arguments, quoted for a POSIX shell.
std::string docker_line(const ChipUse& use);
// Members of a JSON object: "ring", "environment", "numactl", "docker", "devices", and "notes"
// where there are any.
std::string chip_use_members(const ChipUse& use);

}  // namespace chipweave::cli
