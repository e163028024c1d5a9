// Reads an input file, or standard input for "-", and reports errors in it. Standard input belongs
// to one input of a command: it can be read only once.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {

// For messages: "standard input" or "file NAME".
std::string input_name(const std::string& file);

// Errors name the file. A second "-" is an error that exit_for() calls wrong usage.
Result<std::string> read_input(const std::string& file, std::size_t max_bytes);

// For a reader of standard input as a stream. Errors: it has been read or claimed before.
Result<void> claim_standard_input();

// An input of a command: its flag or argument, and the file that it names.
struct NamedInput {
  const char* flag;
  std::string file;
};
// The usage error of a command two of whose inputs are "-", before any is read; empty: at most one
// is.
std::string standard_input_error(std::initializer_list<NamedInput> inputs);

// Reads the description of a network. On failure prints the error, sets the exit code and returns
// nothing.
std::optional<codec::ImportedNetwork> load_network(const std::string& file,
                                                   const codec::NetworkImportOptions& options,
                                                   Exit& exit);

// Prints an error in the content of `file` and returns the exit code. If the context of the error
// is a flag, the message does not name the file.
Exit complain_of_input(Error error, const std::string& file);

// Prints an error of read_input() and returns the exit code.
Exit complain_of_reading(const Error& error);

}  // namespace chipweave::cli
