// chipweave topo show, chipweave topo convert
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/machine_source.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "cli/render_topology.hpp"
#include "common/io/files.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::cli {
namespace {

// Sizes above 16 chips are not searched, so that the page appears at once.
std::vector<std::pair<int, double>> best_by_size(const domain::NodeTopology& topology) {
  constexpr int kMaxChips = 16;
  std::vector<std::pair<int, double>> out;
  if (topology.chip_count() > kMaxChips) return out;
  solver::Machine machine(topology);
  for (const int size : machine.legal_sizes(false)) {
    out.emplace_back(size, machine.best_gbps(size, false));
  }
  return out;
}

struct TopoState {
  MachineSource machine;
  std::vector<std::string> overlays;
  OutputForm form = OutputForm::text;
  std::string format;
  std::string out;
};

// What a subcommand does with the machine.
using MachineUse = Exit (*)(const TopoState& state, const codec::ImportedTopology& machine);

Exit load_and(MachineUse use, const TopoState& state) {
  const Result<codec::ImportedTopology> imported = load_machine_source(state.machine);
  if (!imported) return complain(imported.error(), exit_for(imported.error()));
  const auto overlays = overlays_at(state.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  for (const std::string& warning : imported->warnings) warn(warning);
  codec::ImportedTopology machine = *imported;
  machine.topology = domain::calibrated(machine.topology, *overlays);
  return use(state, machine);
}

// JSON has no key for CPUs.
void warn_of_cpu_ranges(const codec::ImportedTopology& machine) {
  if (machine.cpu_ranges.empty()) return;
  warn(
      "the file prints ranges of CPUs and no NUMA nodes: \"numa\" only says which chips share one");
}

Exit show(const TopoState& state, const codec::ImportedTopology& machine) {
  const domain::NodeTopology& topology = machine.topology;
  if (state.form != OutputForm::json) {
    const MatrixLayout matrix{machine.host.cpus, machine.cpu_ranges.empty(), output_columns()};
    return printed(render_topology(topology, {shown_source(state.machine), best_by_size(topology),
                                              matrix, state.form == OutputForm::wide}));
  }
  warn_of_cpu_ranges(machine);
  return printed(codec::export_topology_json(topology));
}

Exit convert(const TopoState& state, const codec::ImportedTopology& machine) {
  const domain::NodeTopology& topology = machine.topology;
  warn_of_cpu_ranges(machine);
  std::string text;
  if (state.format == "nccl-xml") {
    codec::NcclXml xml = codec::export_nccl_xml(topology);
    for (const std::string& what : xml.left_out)
      warn("NCCL's format cannot say it, left out: " + what);
    text = std::move(xml.text);
  } else {
    text = codec::export_topology_json(topology);
  }
  if (state.out.empty()) return printed(text);
  if (auto written = io::write_file_atomically(state.out, text); !written)
    return complain(written.error(), Exit::unreadable);
  return Exit::fine;
}

}  // namespace

void register_topo(CLI::App& app, Exit& exit_code) {
  CLI::App* topo = app.add_subcommand("topo", "show or convert the description of a machine");
  topo->require_subcommand(1);

  const auto add = [&](const char* name, const char* what, MachineUse use) {
    auto state = std::make_shared<TopoState>();
    CLI::App* command = topo->add_subcommand(name, what);
    add_value(*command, "MACHINE", "FILE|PROFILE", state->machine.source,
              "topology file or folder in any format, or a profile")
        ->required();
    add_machine_options(*command, state->machine);
    command->callback([state, use, &exit_code] { exit_code = load_and(use, *state); });
    return std::pair(command, state);
  };

  const auto [show_command, shown] =
      add("show", "print the matrix of chips and what it means", show);
  add_overlay_option(*show_command, shown->overlays);
  add_wide_output_option(*show_command, shown->form);
  add_examples(*show_command,
               "  chipweave topo show hgx-v100-8\n"
               "  nvidia-smi topo -m > box.txt && chipweave topo show box.txt --model H100\n"
               "  chipweave topo show /sys/class/kfd/kfd/topology -o json");

  const auto [convert_command, converted] = add("convert", "write it in another format", convert);
  add_value(*convert_command, "--to", "FORMAT", converted->format, "json or nccl-xml")
      ->check(CLI::IsMember({"json", "nccl-xml"}))
      ->required();
  add_value(*convert_command, "--out", "FILE", converted->out,
            "file to write; default: standard output");
  add_examples(*convert_command,
               "  chipweave topo convert box.txt --to json --out box.json\n"
               "  chipweave topo convert hgx-h100-8 --to nccl-xml > topo.xml");
}

}  // namespace chipweave::cli
