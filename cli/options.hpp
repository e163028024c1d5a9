// Options that several commands share, declared once so that they read and behave the same
// everywhere.
#pragma once

#include <string>

#include "cli/terminal.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace chipweave::cli {

// -o, --output text|json
void add_output_option(CLI::App& command, OutputForm& form);
// --scheduler URL, or the environment variable CHIPWEAVE_SCHEDULER; required.
CLI::Option* add_scheduler_option(CLI::App& command, std::string& url);
// Shown at the end of --help.
void add_examples(CLI::App& command, const std::string& lines);

}  // namespace chipweave::cli
