#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace chipweave::cli {

void add_output_option(CLI::App& command, OutputForm& form) {
  static const std::map<std::string, OutputForm> kForms{{"json", OutputForm::json},
                                                        {"text", OutputForm::text}};
  command.add_option("-o,--output", form, "text (default) or json")
      ->transform(CLI::CheckedTransformer(kForms).description(""))
      ->option_text("FORM");
}

void add_scheduler_option(CLI::App& command, std::string& url) {
  command.add_option("--scheduler", url, "where chipweave-scheduler listens: http://HOST:PORT")
      ->envname("CHIPWEAVE_SCHEDULER")
      ->option_text("URL")
      ->required();
}

void add_examples(CLI::App& command, const std::string& lines) {
  command.footer("Examples:\n" + lines);
}

}  // namespace chipweave::cli
