// What a command reads whole: a file by its name, or "-", standard input; and how it says what is
// wrong with it.
#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Errors name the file.
Result<std::string> read_input(const std::string& file, std::size_t max_bytes);

// Complains of what the file holds and returns what the command ends with. An error that names a
// flag is the flag's fault: the file is not named.
Exit complain_of_input(Error error, const std::string& file);

}  // namespace chipweave::cli
