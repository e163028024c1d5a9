// The input of a command: a file, the place of the rank table in it, its dialect.
#pragma once

#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "common/codec/ranktable/lint/lint_text.hpp"

namespace CLI {
class App;
}

namespace chipweave::cli {

struct TableFile {
  std::string file;
  std::string pointer;
  std::string dialect;
};

// FILE, --pointer and --dialect. name: of the file in the help.
void add_table_options(CLI::App& command, TableFile& table, const std::string& name = "FILE");
// --pointer and --dialect in the codec's form.
codec::ranktable::LintOptions lint_options(const TableFile& table);

// Reads the table. Errors of text, dialect, types or members are printed with their place; the exit
// code is then set and nothing returned.
std::optional<codec::ranktable::LintedText> load_table(const TableFile& table, Exit& exit);

// Prints the text, or writes it to the file, atomically.
Exit print_or_write(const std::string& text, const std::string& file, bool to_stdout);
// Prints why a table cannot be used so: wrong usage if the error names a flag.
Exit refuse(const Error& error);

// "hccl.json:12:33", "standard input:1:1".
std::string place_text(const std::string& file, const codec::TextPosition& at);

}  // namespace chipweave::cli
