// CommandPage — what --help, the man pages, the Markdown pages and the completion show of a
// command, read from the CLI11 tree, which is the one definition of the flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::cli {

// What stands for a value on the command line, as far as completion can tell.
enum class ValueKind { other, file, folder, machine };

struct OptionEntry {
  std::vector<std::string> names;  // "-o", "--output"; of a positional its name
  bool positional = false;
  bool required = false;
  bool repeatable = false;
  bool takes_value = false;
  std::string value;  // "FILE"; empty: a flag, or a positional without more to say
  std::string help;
  std::string environment;          // the variable that replaces the flag
  std::vector<std::string> values;  // all that are allowed; empty: not a fixed set
  bool list = false;                // several values, separated by commas
  ValueKind kind = ValueKind::other;
};

struct CommandPage {
  std::string words;  // "chipweave topo show"
  std::string about;
  std::string usage;  // "chipweave topo show [OPTIONS] MACHINE"
  std::vector<OptionEntry> positionals;
  std::vector<OptionEntry> flags;
  std::vector<std::pair<std::string, std::string>> commands;  // subcommands: name, what they do
  std::string examples;                                       // lines, indented by two columns
  std::string notes;                                          // the rest of the footer
};

OptionEntry entry_of(const CLI::Option& option);
// words: those that call the command, "chipweave topo show".
CommandPage page_of(const CLI::App& command, const std::string& words);

// The command below `program` that the words name; nullptr with the first unknown word, and the
// command in which it is unknown, where one does not exist.
struct FoundCommand {
  const CLI::App* app = nullptr;
  std::string words;  // with the program's name
  std::string unknown;
};
FoundCommand find_command(const CLI::App& program, const std::vector<std::string>& words);

// Every command that does something, with those that only have subcommands: the program first, then
// in the order of the help.
std::vector<CommandPage> all_pages(const CLI::App& program);

}  // namespace chipweave::cli
