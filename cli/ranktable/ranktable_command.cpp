// chipweave ranktable …
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/ranktable/commands.hpp"
#include "cli/terminal.hpp"

namespace chipweave::cli {

Exit fail(const Error& error) {
  complain(error);
  return exit_for(error);
}

void register_ranktable(CLI::App& app, Exit& exit_code) {
  CLI::App* ranktable = app.add_subcommand(
      "ranktable", "check, make, merge, convert, compare and order rank tables of any dialect");
  ranktable->require_subcommand(1);
  add_examples(*ranktable,
               "  chipweave ranktable lint hccl.json --profile hccl-a2\n"
               "  chipweave ranktable convert hccl.json --to hostfile\n"
               "  chipweave ranktable order hccl.json --network topology.conf --write");
  register_table_lint(*ranktable, exit_code);
  register_table_convert(*ranktable, exit_code);
  register_table_compare(*ranktable, exit_code);
  register_table_order(*ranktable, exit_code);
  register_ranktable_tools(*ranktable);
}

}  // namespace chipweave::cli
