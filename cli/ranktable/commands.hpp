// The subcommands of `chipweave ranktable`: each file registers its own below it.
#pragma once

#include "cli/commands.hpp"

namespace chipweave::cli {

// Prints the error and returns the exit code for it.
Exit fail(const Error& error);

void register_table_lint(CLI::App& ranktable, Exit& exit_code);     // lint
void register_table_convert(CLI::App& ranktable, Exit& exit_code);  // convert
void register_table_compare(CLI::App& ranktable, Exit& exit_code);  // diff, hash
void register_table_order(CLI::App& ranktable, Exit& exit_code);    // order, show
// gen, merge, …: only for the help. main() runs them first (tools/entry.hpp).
void register_ranktable_tools(CLI::App& ranktable);

}  // namespace chipweave::cli
