// chipweave simulate: what several policies make of the same pods on the same cluster, or of the
// same gangs on the same network (gangs/).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/simulate/gangs/gang_flags.hpp"
#include "cli/simulate/gangs/gang_simulation.hpp"
#include "cli/simulate/html_report.hpp"
#include "cli/simulate/machines.hpp"
#include "cli/simulate/progress.hpp"
#include "cli/simulate/replay_flags.hpp"
#include "cli/simulate/report.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/trace/trace_csv.hpp"
#include "common/io/files.hpp"
#include "common/solver/simulate/bounds.hpp"

namespace chipweave::cli {
namespace {

struct SimulateFlags {
  ReplayFlags replay;
  GangFlags gangs;
  std::string nodes, pods;
  std::vector<std::string> machines;
  bool chips_only = false;
  bool managed_only = false;
  double tolerance = 5;  // percent
  double per_peer = solver::NodePreference().useful_gbps_per_peer;
  std::string html;
};

struct Inputs {
  simulate::ModelCluster cluster;
  domain::PodTrace trace;
};

// The error that shows before any file is read; empty: none.
std::string wrong_flags(const SimulateFlags& flags) {
  // A range does not refuse "nan".
  const std::pair<const char*, double> numbers[] = {
      {"--load", flags.replay.load.value_or(0)},
      {"--arrival-rate", flags.replay.rate.value_or(0)},
      {"--duration", flags.replay.duration.value_or(0)},
      {"--tolerance", flags.tolerance},
      {"--useful-gbps-per-peer", flags.per_peer}};
  for (const auto& [flag, number] : numbers) {
    if (!std::isfinite(number)) return std::string(flag) + ": expected a finite number, got nan";
  }
  if (flags.nodes.empty() || flags.pods.empty())
    return "one of --network FILE, or --nodes FILE and --pods FILE is required";
  if (flags.replay.rate.has_value() != flags.replay.duration.has_value())
    return "--arrival-rate and --duration belong together";
  if (flags.replay.rate && flags.replay.load)
    return "--load cannot be combined with --arrival-rate";
  if (flags.replay.count && !flags.replay.rate)
    return "--count needs --arrival-rate and --duration";
  if (std::string twice = standard_input_error({{"--nodes", flags.nodes}, {"--pods", flags.pods}});
      !twice.empty())
    return twice;
  std::vector<std::string_view> known;
  for (const simulate::NamedPolicy& policy : simulate::policies()) known.push_back(policy.name);
  for (const std::string& name : flags.replay.policies) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return "--policies: " + unknown_name("policy", name, known);
  }
  return "";
}

std::optional<Inputs> read_inputs(const SimulateFlags& flags, Exit& exit) {
  const auto failed = [&exit](Exit code) -> std::optional<Inputs> {
    exit = code;
    return std::nullopt;
  };
  const auto node_text = read_input(flags.nodes, limits::kMaxTraceBytes);
  if (!node_text) return failed(complain_of_reading(node_text.error()));
  const auto nodes = codec::read_node_trace(*node_text);
  if (!nodes) return failed(complain_of_input(nodes.error(), flags.nodes));
  const auto pod_text = read_input(flags.pods, limits::kMaxTraceBytes);
  if (!pod_text) return failed(complain_of_reading(pod_text.error()));
  auto trace = codec::read_pod_trace(*pod_text);
  if (!trace) return failed(complain_of_input(std::move(trace).error(), flags.pods));
  auto model = model_nodes(*nodes, flags.machines);
  if (!model) return failed(complain(model.error(), exit_for(model.error())));
  if (flags.chips_only) {
    for (domain::TracePod& pod : trace->pods) pod.cpu_milli = pod.memory_mib = 0;
  }
  Inputs inputs{simulate::ModelCluster(*std::move(model)), *std::move(trace)};
  const bool some_chips = std::any_of(inputs.trace.pods.begin(), inputs.trace.pods.end(),
                                      [](const auto& pod) { return pod.chips > 0; });
  if (inputs.cluster.chips() == 0 || !some_chips)
    return failed(
        complain("nothing to simulate: no node has chips, or no pod asks for any", Exit::findings));
  return inputs;
}

std::vector<simulate::Arrival> arrivals_of(const SimulateFlags& flags, const Inputs& inputs,
                                           SimulationReport& report) {
  const auto& pods = inputs.trace.pods;
  const std::string seed = " (seed " + std::to_string(flags.replay.seed) + ")";
  report.pods_end = flags.replay.rate.has_value() || inputs.trace.timed;
  if (flags.replay.rate) {
    const std::size_t count = flags.replay.count.value_or(pods.size());
    report.arrivals = std::to_string(count) + " pods drawn from the trace" + seed + ", " +
                      gbps_text(*flags.replay.rate) + " an hour, running for " +
                      gbps_text(*flags.replay.duration) + " s on average, both exponential";
    return simulate::generated(
        pods, {*flags.replay.rate, *flags.replay.duration, count, flags.replay.seed});
  }
  if (inputs.trace.timed) {
    report.arrivals = "the pods of the trace at their own times";
    return simulate::recorded(pods);
  }
  const double percent = flags.replay.load.value_or(100);
  auto arrivals = simulate::inflated(
      pods, {inputs.cluster.chips(), percent / 100, limits::kMaxPods, flags.replay.seed});
  report.arrivals = std::to_string(arrivals.size()) + " pods drawn from the trace" + seed +
                    ", one after the other until they have asked for " + gbps_text(percent) +
                    " % of the chips; they stay. The trace has no times, so that nothing waits";
  return arrivals;
}

void describe(const SimulateFlags& flags, const Inputs& inputs, SimulationReport& report) {
  report.nodes = inputs.cluster.nodes().size();
  report.chips = inputs.cluster.chips();
  report.trace_pods = inputs.trace.pods.size();
  report.seed = flags.replay.seed;
  std::map<std::string, MachineCount> kinds;
  for (const simulate::ModelNode& node : inputs.cluster.empty_nodes()) {
    MachineCount& kind = kinds[node.machine == nullptr ? "without chips" : node.kind];
    ++kind.nodes;
    kind.chips += node.free.size();
  }
  for (auto& [kind, count] : kinds) {
    count.kind = kind;
    report.machines.push_back(count);
  }
  if (inputs.trace.shared > 0) {
    report.notes.push_back(std::to_string(inputs.trace.shared) + " of the " +
                           std::to_string(report.trace_pods) +
                           " pods of the trace ask for a part of a chip and count as one chip");
  }
  const bool chipless = std::any_of(inputs.trace.pods.begin(), inputs.trace.pods.end(),
                                    [](const auto& pod) { return pod.chips == 0; });
  if (chipless) {
    report.notes.push_back(
        flags.managed_only
            ? "pods without chips follow the same policy; with chipweave they go where most CPU "
              "and "
              "memory is free (--managed-only)"
            : "pods without chips follow the same policy; with chipweave they go by its score for "
              "them, which kube-scheduler asks for if it is configured to");
  }
  report.notes.push_back(flags.chips_only
                             ? "CPU and memory are unlimited (--chips-only)"
                             : "kube-scheduler has filtered out nodes with too little CPU or "
                               "memory. chipweave knows what is free, and learns from the pods "
                               "that came before; FGD knows all pods of the trace from the start");
}

Exit run_simulation(const SimulateFlags& flags) {
  if (const std::string wrong = wrong_flags(flags); !wrong.empty())
    return complain(wrong, Exit::usage);
  Exit exit = Exit::fine;
  const std::optional<Inputs> inputs = read_inputs(flags, exit);
  if (!inputs) return exit;
  SimulationReport report;
  describe(flags, *inputs, report);
  const auto arrivals = arrivals_of(flags, *inputs, report);
  const auto mix = simulate::request_mix(inputs->trace.pods);
  const auto alone = simulate::alone_gbps(inputs->trace.pods, inputs->cluster);
  const simulate::Workload workload{inputs->trace.pods, arrivals, mix, report.pods_end};
  simulate::ReplayOptions options;
  options.managed_only = flags.managed_only;
  options.preference.tolerance = flags.tolerance / 100;
  options.preference.useful_gbps_per_peer = flags.per_peer;
  options.clock_ns = steady_ns;
  report.preference = options.preference;
  std::vector<const simulate::NamedPolicy*> chosen;
  for (const simulate::NamedPolicy& policy : simulate::policies()) {
    const auto& named = flags.replay.policies;
    if (named.empty() || std::find(named.begin(), named.end(), policy.name) != named.end())
      chosen.push_back(&policy);
  }
  {
    Progress progress(chosen.size() * arrivals.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::string name(chosen[i]->name);
      options.progress = [&, i](std::size_t done) {
        progress.show(i * arrivals.size() + done, name);
      };
      auto replayed = simulate::replay(workload, inputs->cluster, *chosen[i], options);
      auto summary = simulate::summary_of(workload, replayed, alone, inputs->cluster);
      report.policies.push_back(
          {name, std::string(chosen[i]->help), std::move(summary), std::move(replayed.samples)});
    }
  }
  if (!flags.html.empty()) {
    if (auto written = io::write_file_atomically(flags.html, report_html(report)); !written)
      return complain(written.error(), Exit::unreadable);
  }
  return printed(flags.replay.form == OutputForm::json ? report_json(report) + "\n"
                                                       : report_text(report, colour_wanted()));
}

void add_pod_flags(CLI::App& command, SimulateFlags& flags, CLI::Option* network) {
  const auto option = [&](const char* name, const char* value, auto& to, const char* help) {
    return add_value(command, name, value, to, help)->excludes(network);
  };
  option("--nodes", "FILE", flags.nodes, "nodes of the cluster, CSV; -: stdin");
  option("--pods", "FILE", flags.pods, "pods of the trace, CSV; -: stdin");
  option("--machines", "MODEL=PROFILE", flags.machines,
         "node topology of a model of the trace: a profile, a file, or pcie")
      ->delimiter(',');
  command.add_flag("--chips-only", flags.chips_only, "as if no node ran out of CPU or memory")
      ->option_text(" ")
      ->excludes(network);
  command
      .add_flag("--managed-only", flags.managed_only,
                "as if kube-scheduler asked chipweave about pods with chips only")
      ->option_text(" ")
      ->excludes(network);
  option("--tolerance", "PERCENT", flags.tolerance,
         "bandwidth-tolerance of chipweave-scheduler; default: 5")
      ->check(CLI::Range(0.0, 99.0));
  option("--useful-gbps-per-peer", "GBPS", flags.per_peer,
         "the setting of chipweave-scheduler; default: 50")
      ->check(CLI::Range(0.0, limits::kMaxGbps));
  option("--html", "FILE", flags.html, "write a report with charts");
}

void add_replay_flags(CLI::App& command, ReplayFlags& flags) {
  add_value(command, "--policies", "NAME,NAME…", flags.policies, "default: all")->delimiter(',');
  add_value(command, "--load", "PERCENT", flags.load,
            "pods: until they have asked for so many of the chips; default: 100; gangs: as many "
            "of them at a time; default: 80")
      ->check(CLI::Range(1.0, 1000.0));
  add_value(command, "--arrival-rate", "NUMBER", flags.rate,
            "draw times: so many pods or gangs an hour")
      ->check(CLI::Range(1e-6, 1e9));
  add_value(command, "--duration", "SECONDS", flags.duration,
            "and so long on average; default for gangs: 3600, or as in the file")
      ->check(CLI::Range(1e-3, 1e9));
  add_value(command, "--count", "NUMBER", flags.count,
            "so many pods or gangs with drawn times; default: as in the file, or 1000 gangs")
      ->check(CLI::Range(std::size_t{1}, limits::kMaxPods));
  add_value(command, "--seed", "NUMBER", flags.seed, "of all draws; default: 1")
      ->check([](const std::string& text) {  // CLI11 takes the largest number for a larger one
        return parse_number<std::uint64_t>(text)
                   ? std::string()
                   : "expected a whole number from 0 to 18446744073709551615, got " +
                         in_quotes(text);
      });
  add_output_option(command, flags.form);
}

}  // namespace

void register_simulate(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* c = app.add_subcommand(
      "simulate", "replay the pods of a trace, or gangs, by chipweave and by other policies");
  CLI::Option* network = add_gang_flags(*c, flags->gangs);
  add_pod_flags(*c, *flags, network);
  add_replay_flags(*c, flags->replay);
  add_examples(*c,
               "  chipweave simulate --nodes nodes.csv --pods pods.csv --html report.html\n"
               "  chipweave simulate --nodes nodes.csv --pods pods.csv --arrival-rate 900 "
               "--duration 14400\n"
               "  chipweave simulate --network topology.conf --free 8 --jobs jobs.csv\n"
               "  chipweave simulate --network topology.conf --free 8 --load 90 --preferred leaf");
  c->callback([=, &exit_code] {
    exit_code = flags->gangs.network.empty() ? run_simulation(*flags)
                                             : run_gang_simulation(flags->gangs, flags->replay);
  });
}

}  // namespace chipweave::cli
