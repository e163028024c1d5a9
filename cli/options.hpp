// Options that several commands share, declared once so that they read and behave the same
// everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec {
struct NetworkImportOptions;
}

namespace chipweave::cli {

// An option with a value, which the help calls `value`, e.g. FILE.
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, const std::string& value,
                       Value& to, const std::string& help) {
  return command.add_option(name, to, help)->option_text(value);
}
// Names the values for the completion and the generated pages. It checks nothing: the option's own
// check has the error.
template <class Names>
CLI::Option* offer(CLI::Option* option, const Names& values) {
  return option->check(
      CLI::Validator([](std::string&) { return std::string(); }, "{" + joined(values, ",") + "}"));
}
// --cpu-packages N, for rankfiles.
CLI::Option* add_cpu_packages_option(CLI::App& command, std::optional<int>& packages);
// A warning if a rankfile is written without it: ranks are bound to the first package only.
void warn_of_cpu_packages(std::string_view form, const std::optional<int>& packages);
// -o, --output text|json
CLI::Option* add_output_option(CLI::App& command, OutputForm& form);
// -o, --output text|wide|json
CLI::Option* add_wide_output_option(CLI::App& command, OutputForm& form);
// -o, --output text|wide|name|json|yaml, as kubectl names them.
CLI::Option* add_list_output_option(CLI::App& command, OutputForm& form);
// --scheduler URL; --ca, --cert, --key and --token-file for https, or CHIPWEAVE_CA and so on.
// Returns all of them, --scheduler first.
std::vector<CLI::Option*> add_scheduler_options(CLI::App& command, SchedulerAddress& address);
// The same, with --scheduler or the environment variable CHIPWEAVE_SCHEDULER required. Returns
// --scheduler.
CLI::Option* add_scheduler_option(CLI::App& command, SchedulerAddress& address);
// --batch FILE, which is returned, --timing and --repeat N.
CLI::Option* add_batch_options(CLI::App& command, BatchFlags& flags);
// --format FORMAT and --levels LABEL,LABEL… for reading a network description; returns both.
std::vector<CLI::Option*> add_network_options(CLI::App& command,
                                              codec::NetworkImportOptions& options);
// Shown at the end of --help.
void add_examples(CLI::App& command, const std::string& lines);

}  // namespace chipweave::cli
