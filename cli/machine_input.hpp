// A machine named on the command line: a profile or one of its aliases, a topology file or folder,
// or standard input ("-").
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::cli {

// Errors name the input.
Result<codec::ImportedTopology> load_machine_input(const std::string& source,
                                                   const codec::ImportOptions& options = {});

}  // namespace chipweave::cli
