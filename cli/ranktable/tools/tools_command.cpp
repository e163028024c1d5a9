// chipweave ranktable gen, merge, merge-local, merge-all, gen-hccl, merge-hccl; pd-ranktable: only
// how help lists them. They read their words themselves (cli/ranktable/tools/entry.hpp).
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/ranktable/tools/entry.hpp"

namespace chipweave::cli {

void register_ranktable_tools(CLI::App& app, CLI::App& ranktable) {
  constexpr std::string_view kGroup = "ranktable ";
  for (const RanktableTool& tool : ranktable_tools()) {
    if (tool.command.starts_with(kGroup)) {
      ranktable.add_subcommand(tool.command.substr(kGroup.size()), tool.about);
    } else {
      app.add_subcommand(tool.command, tool.about);
    }
  }
}

}  // namespace chipweave::cli
