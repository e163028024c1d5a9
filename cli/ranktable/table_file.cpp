#include "cli/ranktable/table_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/dialect.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {

using codec::ranktable::LintedText;
using codec::ranktable::LintOptions;
using codec::ranktable::Located;
using domain::ranktable::Severity;

namespace {

// Findings that make a table unusable for every command but lint.
bool is_structural(const Located& finding) {
  constexpr std::array<std::string_view, 6> kCodes = {"RT001", "RT002", "RT003",
                                                      "RT004", "RT005", "RT100"};
  if (finding.severity != Severity::error) return finding.code == "RT010";
  return std::find(kCodes.begin(), kCodes.end(), finding.code) != kCodes.end();
}

}  // namespace

void add_table_options(CLI::App& command, TableFile& table, const std::string& name) {
  command
      .add_option(name == "FILE" ? "FILE" : "TABLE", table.file,
                  "rank table in any dialect; -: standard input")
      ->option_text(" ")
      ->required();
  add_value(command, "--pointer", "POINTER", table.pointer,
            "where in the file the table is, as a JSON pointer: /data/hccl.json")
      ->check([](const std::string& text) {
        const bool pointer = text.empty() || text.starts_with('/');
        return pointer ? ""
                       : "expected a JSON pointer such as /data/hccl.json, got " + in_quotes(text);
      });
  offer(
      add_value(command, "--dialect", "DIALECT", table.dialect,
                "dialect of a table whose members do not tell: modelarts-global or mindie-global"),
      domain::ranktable::dialect_names())
      ->check([](const std::string& text) {
        if (domain::ranktable::dialect_named(text)) return std::string();
        return unknown_name("dialect", text, domain::ranktable::dialect_names());
      });
}

LintOptions lint_options(const TableFile& table) {
  LintOptions out;
  out.pointer = table.pointer;
  out.dialect = domain::ranktable::dialect_named(table.dialect);
  return out;
}

std::optional<LintedText> load_table(const TableFile& table, Exit& exit) {
  Result<std::string> content = read_input(table.file, limits::kMaxRankTableBytes + 1);
  if (!content) {
    exit = complain_of_reading(content.error());
    return std::nullopt;
  }
  LintedText linted = codec::ranktable::lint_text(*std::move(content), lint_options(table));
  std::size_t wrong = 0;
  constexpr std::size_t kShown = 5;
  for (const Located& each : linted.findings) {
    if (!is_structural(each)) continue;
    if (++wrong > kShown) continue;
    complain(place_text(table.file, each.position) + ": " + each.code + ": " + each.message());
  }
  if (wrong == 0) return linted;
  if (wrong > kShown) {
    complain(
        concat("and ", wrong - kShown, " more; see 'chipweave ranktable lint ", table.file, "'"));
  }
  exit = Exit::findings;
  return std::nullopt;
}

Exit print_or_write(const std::string& text, const std::string& file, bool to_stdout) {
  if (to_stdout) return print(text) ? Exit::fine : Exit::unreadable;
  const auto written = io::write_file_atomically(file, text);
  return written ? Exit::fine : complain(written.error(), Exit::unreadable);
}

Exit refuse(const Error& error) {
  return complain(error, exit_for(error) == Exit::usage ? Exit::usage : Exit::findings);
}

std::string place_text(const std::string& file, const codec::TextPosition& at) {
  return concat((file == "-" ? std::string("standard input") : file), ":", at.line, ":", at.column);
}

}  // namespace chipweave::cli
