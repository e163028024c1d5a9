// Reads an input file, or standard input for "-", and reports errors in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {

// Errors name the file.
Result<std::string> read_input(const std::string& file, std::size_t max_bytes);

// Reads the description of a network. On failure prints the error, sets the exit code and returns
// nothing.
std::optional<codec::ImportedNetwork> load_network(const std::string& file,
                                                   const codec::NetworkImportOptions& options,
                                                   Exit& exit);

// Prints an error in the content of `file` and returns the exit code. If the context of the error
// is a flag, the message does not name the file.
Exit complain_of_input(Error error, const std::string& file);

}  // namespace chipweave::cli
