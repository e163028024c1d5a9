// chipweave: topology and placement from the command line. Each subcommand lives in its own file.
#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/ranktable/tools/entry.hpp"
#include "cli/terminal.hpp"
#include "common/base/near_names.hpp"

namespace {

using chipweave::cli::complain;
using chipweave::cli::Exit;

constexpr int kRequiredMissing = static_cast<int>(CLI::ExitCodes::RequiredError);

// One sentence for wrong usage: what, and whose help says more.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  std::string what = error.what();
  const std::vector<std::string> unknown = command->remaining();
  const bool wants_command = command->get_require_subcommand_min() > 0;
  const bool word = !unknown.empty() && !unknown.front().starts_with('-');
  if (wants_command && !unknown.empty() && !word) {
    what = "there is no flag " + unknown.front().substr(0, 40);
  } else if (wants_command && word) {
    std::vector<std::string_view> known;
    for (const CLI::App* each : command->get_subcommands(nullptr))
      known.push_back(each->get_name());
    what = "there is no command '" + unknown.front().substr(0, 40) + "'" +
           chipweave::did_you_mean(unknown.front(), known);
  } else if (wants_command && unknown.empty() && error.get_exit_code() == kRequiredMissing) {
    what = "a command is missing";
  }
  return what + "; see '" + name + " --help'";
}

int run(int argc, char** argv) {
  CLI::App app("Places AI workloads on the accelerators that talk to each other fastest.",
               "chipweave");
  app.require_subcommand(1);
  app.set_version_flag("--version", "chipweave " CHIPWEAVE_VERSION);
  app.footer(
      "Examples:\n"
      "  chipweave topo show hgx-v100-8\n"
      "  chipweave submit examples/ack-pytorchjob.yaml --scheduler http://127.0.0.1:8080\n"
      "chipweave COMMAND --help says more.");
  Exit exit_code = Exit::fine;
  chipweave::cli::register_place(app, exit_code);
  chipweave::cli::register_plan(app, exit_code);
  chipweave::cli::register_rank(app, exit_code);
  chipweave::cli::register_topo(app, exit_code);
  chipweave::cli::register_network(app, exit_code);
  chipweave::cli::register_route(app, exit_code);
  chipweave::cli::register_ranktable(app, exit_code);
  chipweave::cli::register_profiles(app, exit_code);
  chipweave::cli::register_submit(app, exit_code);
  chipweave::cli::register_views(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);  // prints help or the version
    return static_cast<int>(Exit::fine);
  } catch (const CLI::ParseError& error) {
    complain(usage_error(app, error));
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
