// A machine named on the command line: a profile or a topology file, with --model and --index for
// files that leave something open.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::cli {

struct MachineSource {
  std::string source;  // of the caller's own option
  std::string model;
  std::string index;  // digits; empty if not given
};

// The source for messages and titles.
std::string shown_source(const MachineSource& machine);

// --model and --index. Returns both.
std::vector<CLI::Option*> add_machine_options(CLI::App& command, MachineSource& machine);

// A model that is not the machine's own is a warning.
Result<codec::ImportedTopology> load_machine_source(const MachineSource& machine);

}  // namespace chipweave::cli
