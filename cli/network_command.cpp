// chipweave network import, export, show
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/network_tree.hpp"
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

// What a subcommand does with the network.
using NetworkUse = Exit (*)(const NetworkOptions& options, const codec::ImportedNetwork& network);

Exit import_and(NetworkUse use, const NetworkOptions& options) {
  Exit exit = Exit::fine;
  const auto network = load_network(options.file, options.import, exit);
  return network ? use(options, *network) : exit;
}

Exit run_import(const NetworkOptions& options, const codec::ImportedNetwork& network) {
  if (options.form == OutputForm::json) {
    return printed(codec::export_network_json(network.table, network.warnings));
  }
  for (const std::string& warning : network.warnings) warn(warning);
  return printed(render_network_nodes(network.table));
}

Exit run_show(const NetworkOptions& options, const codec::ImportedNetwork& network) {
  const NetworkSummary summary = summarize(network.table);
  if (options.form == OutputForm::json) {
    return printed(network_summary_json(summary, network.format, network.warnings));
  }
  for (const std::string& warning : network.warnings) warn(warning);
  const TreeStyle style{utf8_wanted(), options.form == OutputForm::wide};
  std::string text = render_network(summary, network.format);
  for (const std::string& tree :
       {network_tree(network.table, style), accelerator_tree(network.table, style)}) {
    if (!tree.empty()) text += "\n" + tree;
  }
  return printed(text);
}

Exit run_export(const NetworkOptions& options, const codec::ImportedNetwork& network) {
  const Result<codec::ExportedNetwork> out = codec::export_network(network.table, options.to);
  if (!out) return complain(out.error(), exit_for(out.error()));
  for (const std::string& warning : network.warnings) warn(warning);
  for (const std::string& warning : out->warnings) warn(options.to + ": " + warning);
  return printed(out->text);
}

}  // namespace

void register_network(CLI::App& app, Exit& exit_code) {
  CLI::App* network =
      app.add_subcommand("network", "read, convert or show the description of a network");
  network->require_subcommand(1);

  const auto add = [&](const char* name, const char* what, NetworkUse use) {
    auto options = std::make_shared<NetworkOptions>();
    CLI::App* command = network->add_subcommand(name, what);
    add_file_options(*command, *options);
    command->callback([options, use, &exit_code] { exit_code = import_and(use, *options); });
    return std::pair(command, options);
  };

  const auto [import_command, import_options] =
      add("import", "print where each node is, in chipweave's own form", run_import);
  add_output_option(*import_command, import_options->form);
  add_examples(*import_command,
               "  chipweave network import /etc/slurm/topology.conf -o json\n"
               "  kubectl get nodes -o json | chipweave network import - --levels "
               "example.com/block,example.com/rack\n"
               "Formats: " +
                   joined(codec::network_formats(), ", "));

  const auto [export_command, export_options] =
      add("export", "write it in another format", run_export);
  offer(add_value(*export_command, "--to", "FORMAT", export_options->to,
                  joined(codec::network_export_formats(), ", ")),
        codec::network_export_formats())
      ->required();
  add_examples(*export_command,
               "  ibnetdiscover | chipweave network export - --to slurm > topology.conf\n"
               "  chipweave network export topology.conf --to hypernode | kubectl apply -f -");

  const auto [show_command, show_options] =
      add("show", "print its domains as a tree, their sizes and who is outside", run_show);
  add_wide_output_option(*show_command, show_options->form);
  add_examples(*show_command, "  chipweave network show topology.conf");
}

}  // namespace chipweave::cli
