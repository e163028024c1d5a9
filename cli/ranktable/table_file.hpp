// The rank table that a command is given: which file, where in it, of which dialect.
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

// FILE, --pointer and --dialect. name: how the help calls the file.
void add_table_options(CLI::App& command, TableFile& table, const std::string& name = "FILE");
// --pointer and --dialect as the codec takes them.
codec::ranktable::LintOptions lint_options(const TableFile& table);

// Reads and checks what every consumer checks. A table with errors of text, dialect, types or
// members is complained of with its place; the exit code is then set and nothing returned.
std::optional<codec::ranktable::LintedText> load_table(const TableFile& table, Exit& exit);

// "hccl.json:12:33", "standard input:1:1".
std::string place_text(const std::string& file, const codec::TextPosition& at);

}  // namespace chipweave::cli
