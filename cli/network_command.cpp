// chipweave network import, export, show
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/render_network.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/export.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::cli {
namespace {

struct NetworkOptions {
  std::string file;
  codec::NetworkImportOptions import;
  OutputForm form = OutputForm::text;
  std::string to;
};

void add_file_options(CLI::App& command, NetworkOptions& options) {
  command
      .add_option("FILE", options.file, "description of a network in any format; -: standard input")
      ->option_text(" ")
      ->required();
  add_network_options(command, options.import);
}

Exit printed(const std::string& text) { return print(text) ? Exit::fine : Exit::unreadable; }

Exit run_import(const NetworkOptions& options) {
  Exit exit = Exit::fine;
  const auto network = load_network(options.file, options.import, exit);
  if (!network) return exit;
  if (options.form == OutputForm::json) {
    return printed(codec::export_network_json(network->table, network->warnings));
  }
  for (const std::string& warning : network->warnings) warn(warning);
  return printed(render_network_nodes(network->table));
}

Exit run_show(const NetworkOptions& options) {
  Exit exit = Exit::fine;
  const auto network = load_network(options.file, options.import, exit);
  if (!network) return exit;
  const NetworkSummary summary = summarize(network->table);
  if (options.form == OutputForm::json) {
    return printed(network_summary_json(summary, network->format, network->warnings));
  }
  for (const std::string& warning : network->warnings) warn(warning);
  return printed(render_network(summary, network->format));
}

Exit run_export(const NetworkOptions& options) {
  Exit exit = Exit::fine;
  const auto network = load_network(options.file, options.import, exit);
  if (!network) return exit;
  const Result<codec::ExportedNetwork> out = codec::export_network(network->table, options.to);
  if (!out) return complain(out.error(), exit_for(out.error()));
  for (const std::string& warning : network->warnings) warn(warning);
  for (const std::string& warning : out->warnings) warn(options.to + ": " + warning);
  return printed(out->text);
}

}  // namespace

void register_network(CLI::App& app, Exit& exit_code) {
  CLI::App* network =
      app.add_subcommand("network", "read, convert or show the description of a network");
  network->require_subcommand(1);

  auto import_options = std::make_shared<NetworkOptions>();
  CLI::App* import_command =
      network->add_subcommand("import", "print where each node is, in chipweave's own form");
  add_file_options(*import_command, *import_options);
  add_output_option(*import_command, import_options->form);
  add_examples(*import_command,
               "  chipweave network import /etc/slurm/topology.conf -o json\n"
               "  kubectl get nodes -o json | chipweave network import - --levels "
               "example.com/block,example.com/rack\n"
               "Formats: " +
                   joined(codec::network_formats(), ", "));
  import_command->callback(
      [import_options, &exit_code] { exit_code = run_import(*import_options); });

  auto export_options = std::make_shared<NetworkOptions>();
  CLI::App* export_command = network->add_subcommand("export", "write it in another format");
  add_file_options(*export_command, *export_options);
  add_value(*export_command, "--to", "FORMAT", export_options->to,
            joined(codec::network_export_formats(), ", "))
      ->required();
  add_examples(*export_command,
               "  ibnetdiscover | chipweave network export - --to slurm > topology.conf\n"
               "  chipweave network export topology.conf --to hypernode | kubectl apply -f -");
  export_command->callback(
      [export_options, &exit_code] { exit_code = run_export(*export_options); });

  auto show_options = std::make_shared<NetworkOptions>();
  CLI::App* show_command =
      network->add_subcommand("show", "print levels, domains, their sizes and who is outside");
  add_file_options(*show_command, *show_options);
  add_output_option(*show_command, show_options->form);
  add_examples(*show_command, "  chipweave network show topology.conf");
  show_command->callback([show_options, &exit_code] { exit_code = run_show(*show_options); });
}

}  // namespace chipweave::cli
