// chipweave: topology and placement from the command line. Each subcommand lives in its own file.
#include <CLI/CLI.hpp>
#include <exception>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"

namespace {

using chipweave::cli::Exit;

int run(int argc, char** argv) {
  CLI::App app("Places AI workloads on the accelerators that talk to each other fastest.",
               "chipweave");
  app.require_subcommand(1);
  app.set_version_flag("--version", "chipweave " CHIPWEAVE_VERSION);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Examples:\n"
      "  chipweave topo show hgx-v100-8\n"
      "  chipweave submit examples/ack-pytorchjob.yaml --scheduler http://127.0.0.1:8080\n"
      "chipweave COMMAND --help says more.");
  Exit exit_code = Exit::fine;
  chipweave::cli::register_place(app, exit_code);
  chipweave::cli::register_topo(app, exit_code);
  chipweave::cli::register_profiles(app, exit_code);
  chipweave::cli::register_submit(app, exit_code);
  chipweave::cli::register_views(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error);  // prints help or the message
    return static_cast<int>(asked_for_help ? Exit::fine : Exit::usage);
  }
  return static_cast<int>(exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    chipweave::cli::complain(std::string("stopped by an unexpected failure: ") + error.what());
    return static_cast<int>(Exit::unreadable);
  }
}
