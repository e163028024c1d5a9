// chipweave simulate: what several policies make of the same pods on the same cluster.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/simulate/machines.hpp"
#include "cli/simulate/report.hpp"
#include "common/base/limits.hpp"
#include "common/codec/trace/trace_csv.hpp"
#include "common/solver/simulate/bounds.hpp"

namespace chipweave::cli {
namespace {

struct SimulateFlags {
  std::string nodes, pods;
  std::vector<std::string> machines, policies;
  double load = 100;
  std::uint64_t seed = 1;
  double tolerance = 5;
  double per_peer = 100;
  OutputForm form = OutputForm::text;
  std::string html;
};

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

Exit run_simulate(const SimulateFlags& flags) {
  const auto node_text = read_input(flags.nodes, limits::kMaxTraceBytes);
  if (!node_text) return complain(node_text.error(), Exit::unreadable);
  const auto pod_text = read_input(flags.pods, limits::kMaxTraceBytes);
  if (!pod_text) return complain(pod_text.error(), Exit::unreadable);
  const auto nodes = codec::read_node_trace(*node_text);
  if (!nodes) return complain_of_input(nodes.error(), flags.nodes);
  const auto trace = codec::read_pod_trace(*pod_text);
  if (!trace) return complain_of_input(trace.error(), flags.pods);
  auto model = model_nodes(*nodes, flags.machines);
  if (!model) return complain(model.error(), exit_for(model.error()));
  const simulate::ModelCluster cluster(*std::move(model));
  const auto mix = simulate::request_mix(trace->pods);
  const auto arrivals =
      simulate::inflated(trace->pods, cluster.chips(), flags.load / 100, flags.seed);
  const simulate::Workload workload{trace->pods, arrivals, mix, false};
  const auto alone = simulate::alone_gbps(trace->pods, cluster);
  simulate::ReplayOptions options;
  options.preference.tolerance = flags.tolerance / 100;
  options.preference.useful_gbps_per_peer = flags.per_peer;
  options.clock_ns = now_ns;
  SimulationReport report;
  for (const auto& policy : simulate::policies()) {
    auto replayed = simulate::replay(workload, cluster, policy, options);
    report.policies.push_back({std::string(policy.name), std::string(policy.help),
                               simulate::summary_of(workload, replayed, alone, cluster),
                               std::move(replayed.samples)});
  }
  return printed(report_text(report, colour_wanted()));
}

}  // namespace

void register_simulate(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* c = app.add_subcommand(
      "simulate", "replay the pods of a trace over a cluster, with chipweave and other policies");
  add_value(*c, "--nodes", "FILE", flags->nodes, "nodes of the cluster, CSV")->required();
  add_value(*c, "--pods", "FILE", flags->pods, "pods of the trace, CSV")->required();
  add_value(*c, "--machines", "MODEL=PROFILE", flags->machines, "");
  add_value(*c, "--load", "PERCENT", flags->load, "");
  add_value(*c, "--seed", "N", flags->seed, "");
  add_value(*c, "--tolerance", "PERCENT", flags->tolerance, "");
  add_value(*c, "--useful-gbps-per-peer", "GBPS", flags->per_peer, "");
  c->callback([=, &exit_code] { exit_code = run_simulate(*flags); });
}

}  // namespace chipweave::cli
