#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace chipweave::cli {

Exit exit_for(const Error& error) {
  const bool names_flag = !error.context.empty() && error.context.back().starts_with("-");
  return names_flag ? Exit::usage : Exit::unreadable;
}

void add_output_option(CLI::App& command, OutputForm& form) {
  const auto set = [&form](const std::string& text) {
    if (text != "text" && text != "json") throw CLI::ValidationError("-o takes text or json");
    form = text == "json" ? OutputForm::json : OutputForm::text;
  };
  command.add_option_function<std::string>("-o,--output", set, "text (default) or json")
      ->option_text("FORM");
}

CLI::Option* add_scheduler_option(CLI::App& command, std::string& url) {
  return command
      .add_option("--scheduler", url, "where chipweave-scheduler listens: http://HOST:PORT")
      ->envname("CHIPWEAVE_SCHEDULER")
      ->option_text("URL")
      ->required();
}

void add_examples(CLI::App& command, const std::string& lines) {
  command.footer("Examples:\n" + lines);
}

}  // namespace chipweave::cli
