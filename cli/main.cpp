// chipweave: topology and placement from the command line. Each subcommand lives in its own file.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/cluster_flags.hpp"
#include "cli/commands.hpp"
#include "cli/ranktable/tools/entry.hpp"
#include "cli/reference/completion.hpp"
#include "cli/reference/help_formatter.hpp"
#include "cli/terminal.hpp"
#include "common/flags/usage_error.hpp"

namespace {

using chipweave::cli::complain;
using chipweave::cli::Exit;

int run(int argc, char** argv) {
  CLI::App app(
      "Places AI workloads on the accelerators that talk to each other fastest.",
      chipweave::cli::is_plugin(argv[0]) ? std::string(chipweave::cli::kPluginName) : "chipweave");
  app.formatter(std::make_shared<chipweave::cli::HelpFormatter>());  // subcommands inherit it
  app.require_subcommand(1);
  app.set_version_flag("--version", "chipweave " CHIPWEAVE_VERSION);
  Exit exit_code = Exit::fine;
  chipweave::cli::register_place(app, exit_code);
  chipweave::cli::register_plan(app, exit_code);
  chipweave::cli::register_defrag(app, exit_code);
  chipweave::cli::register_simulate(app, exit_code);
  chipweave::cli::register_rank(app, exit_code);
  chipweave::cli::register_topo(app, exit_code);
  chipweave::cli::register_network(app, exit_code);
  chipweave::cli::register_route(app, exit_code);
  chipweave::cli::register_ranktable(app, exit_code);
  chipweave::cli::register_profiles(app, exit_code);
  chipweave::cli::register_calibrate(app, exit_code);
  chipweave::cli::register_submit(app, exit_code);
  chipweave::cli::register_where(app, exit_code);
  chipweave::cli::register_what_if(app, exit_code);
  chipweave::cli::register_views(app, exit_code);
  chipweave::cli::register_nodes(app, exit_code);
  chipweave::cli::register_pods(app, exit_code);
  chipweave::cli::register_reference(app, exit_code);
  // Not before: commands would inherit it.
  app.footer(
      "Examples:\n"
      "  chipweave topo show hgx-v100-8\n"
      "  chipweave submit examples/ack-pytorchjob.yaml --scheduler http://127.0.0.1:8080\n"
      "`chipweave help COMMAND` describes a command.");
  const bool completes = argc > 1 && argv[1] == chipweave::cli::kCompleteWord;
  if (completes || chipweave::cli::is_plugin_completion(argv[0])) {
    const std::vector<std::string> words(argv + (completes ? 2 : 1), argv + argc);
    return static_cast<int>(chipweave::cli::printed(
        chipweave::cli::completion_lines(chipweave::cli::complete(app, words))));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);  // prints help or the version
    return static_cast<int>(Exit::fine);
  } catch (const CLI::ParseError& error) {
    complain(chipweave::flags::usage_error(app, error));
    return static_cast<int>(Exit::usage);
  }
  return static_cast<int>(exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto exit = chipweave::cli::run_ranktable_tools(argc, argv)) return *exit;
    return run(argc, argv);
  } catch (const std::exception& error) {
    complain(std::string("stopped by an unexpected failure: ") + error.what());
    return static_cast<int>(Exit::unreadable);
  }
}
