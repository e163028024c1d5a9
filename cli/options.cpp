#include "cli/options.hpp"

#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {

namespace {

using OutputForms = std::vector<std::pair<std::string, OutputForm>>;

CLI::Option* add_output_forms(CLI::App& command, OutputForm& form, OutputForms forms,
                              const std::string& help) {
  std::vector<std::string> names;
  names.reserve(forms.size());
  for (const auto& [name, value] : forms) names.push_back(name);
  const auto set = [&form, forms = std::move(forms)](const std::string& text) {
    std::string known;
    for (const auto& [name, value] : forms) {
      if (name == text) {
        form = value;
        return;
      }
      known += (known.empty() ? "" : ", ") + name;
    }
    throw CLI::ValidationError("-o: unknown form " + in_quotes(text) + "; known: " + known);
  };
  return offer(command.add_option_function<std::string>("-o,--output", set, help), names)
      ->option_text("FORM");
}

}  // namespace

CLI::Option* add_output_option(CLI::App& command, OutputForm& form) {
  return add_output_forms(command, form, {{"text", OutputForm::text}, {"json", OutputForm::json}},
                          "text (default) or json");
}

CLI::Option* add_wide_output_option(CLI::App& command, OutputForm& form) {
  return add_output_forms(
      command, form,
      {{"text", OutputForm::text}, {"wide", OutputForm::wide}, {"json", OutputForm::json}},
      "text (default), wide or json");
}

CLI::Option* add_list_output_option(CLI::App& command, OutputForm& form) {
  return add_output_forms(command, form,
                          {{"text", OutputForm::text},
                           {"wide", OutputForm::wide},
                           {"name", OutputForm::name},
                           {"json", OutputForm::json},
                           {"yaml", OutputForm::yaml}},
                          "text (default), wide, name, json or yaml");
}

CLI::Option* add_batch_options(CLI::App& command, BatchFlags& flags) {
  CLI::Option* batch = add_value(command, "--batch", "FILE", flags.file,
                                 "requests, one JSON object a line; - reads standard input");
  command.add_flag("--timing", flags.timing, "print the time per decision to standard error");
  command.add_option("--repeat", flags.repeat, "decide each request so often (with --timing)")
      ->check(CLI::Range(1, 1000000));
  return batch;
}

std::vector<CLI::Option*> add_scheduler_options(CLI::App& command, SchedulerAddress& address) {
  CLI::Option* url =
      add_value(command, "--scheduler", "URL", address.url,
                "where chipweave-scheduler listens: http://HOST:PORT or https://HOST:PORT");
  CLI::Option* ca =
      add_value(command, "--ca", "FILE.pem", address.files.ca,
                "CA of the scheduler's certificate; default: the system's trust store")
          ->envname("CHIPWEAVE_CA");
  CLI::Option* certificate = add_value(command, "--cert", "FILE.pem", address.files.certificate,
                                       "certificate to show to the scheduler")
                                 ->envname("CHIPWEAVE_CERT");
  CLI::Option* key = add_value(command, "--key", "FILE.pem", address.files.key, "its key")
                         ->envname("CHIPWEAVE_KEY");
  CLI::Option* token = add_value(command, "--token-file", "FILE", address.token_file,
                                 "file with the secret of a reader, sent as a bearer token")
                           ->envname("CHIPWEAVE_TOKEN_FILE");
  return {url, ca, certificate, key, token};
}

CLI::Option* add_scheduler_option(CLI::App& command, SchedulerAddress& address) {
  return add_scheduler_options(command, address)
      .front()
      ->envname("CHIPWEAVE_SCHEDULER")
      ->required();
}

std::vector<CLI::Option*> add_network_options(CLI::App& command,
                                              codec::NetworkImportOptions& options) {
  CLI::Option* format = add_value(command, "--format", "FORMAT", options.format,
                                  "what the file is, where its content does not tell");
  CLI::Option* levels = add_value(command, "--levels", "LABEL,LABEL…", options.levels,
                                  "node labels that are the levels, coarsest first")
                            ->delimiter(',');
  offer(format, codec::network_formats());
  return {format, levels};
}

CLI::Option* add_cpu_packages_option(CLI::App& command, std::optional<int>& packages) {
  constexpr int kMax = 64;
  return add_value(command, "--cpu-packages", "N", packages,
                   "rankfile: CPU packages (sockets) of the hosts, on all cores of which ranks may "
                   "run; default: 1")
      ->check(CLI::Range(1, kMax));
}

void warn_of_cpu_packages(std::string_view form, const std::optional<int>& packages) {
  if (form != "rankfile" || packages) return;
  warn(
      "Open MPI binds the ranks of a rankfile, here to all cores of the first CPU package; give "
      "--cpu-packages N for hosts with several, or use a hostfile");
}

void add_examples(CLI::App& command, const std::string& lines) {
  command.footer("Examples:\n" + lines);
}

}  // namespace chipweave::cli
