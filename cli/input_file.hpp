// Reads an input file, or standard input for "-", and reports errors in it.
#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Errors name the file.
Result<std::string> read_input(const std::string& file, std::size_t max_bytes);

// Prints an error in the content of `file` and returns the exit code. If the context of the error
// is a flag, the message does not name the file.
Exit complain_of_input(Error error, const std::string& file);

}  // namespace chipweave::cli
