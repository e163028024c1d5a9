#include "cli/simulate/gangs/gang_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/plan/plan_engine.hpp"
#include "cli/simulate/gangs/gang_report.hpp"
#include "cli/simulate/progress.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/network/plan_network.hpp"
#include "common/codec/trace/gang_trace_csv.hpp"
#include "common/solver/simulate/gangs/gang_arrivals.hpp"
#include "common/solver/simulate/gangs/gang_cluster.hpp"

namespace chipweave::cli {
namespace {

using domain::TraceGang;

constexpr std::size_t kDrawnGangs = 1000;
constexpr double kMeanDuration = 3600;
constexpr double kLoadPercent = 80;
constexpr double kHour = 3600;
constexpr std::int64_t kLargestInPods = 64;

struct GangInputs {
  solver::Fabric cluster;
  std::vector<std::string> levels;
  bool nested = true;  // see PlanRequest
  bool machines = false;
  domain::GangTrace trace;  // empty without --jobs
};

// Chips of the nodes as `plan` reads them, but not what their machines' rules allow.
Result<GangInputs> cluster_of(const std::string& network) {
  auto line = codec::parse_plan_line(R"({"network":)" + network +
                                     R"(,"gang":{"pods":1,"chips_per_pod":1}})");
  if (!line.request) return std::move(line.request).error();
  codec::PlanRequest& request = *line.request;
  GangInputs out{solver::Fabric(request.levels.size()), request.levels, request.nested, false, {}};
  PlanEngine engine;
  for (const codec::PlanNode& node : request.nodes) {
    const auto id = out.cluster.add(node.name, node.place);
    if (!id) return Error(id.error());
    int free = node.free;
    if (!node.machine.empty()) {
      const auto machine = engine.machine_of(node, request.gang, *id);
      if (!machine) return Error(machine.error());
      free = machine->free.size();
      out.machines = true;
    }
    out.cluster.set_free(*id, free);
    if (node.max_pods >= 0) out.cluster.set_max_pods(*id, node.max_pods);
    out.cluster.set_healthy(*id, node.healthy);
  }
  return out;
}

std::optional<GangInputs> read_gang_inputs(const GangFlags& flags, Exit& exit) {
  const auto failed = [&exit](Exit code) -> std::optional<GangInputs> {
    exit = code;
    return std::nullopt;
  };
  const auto description = read_input(flags.network, limits::kMaxPlanLineBytes);
  if (!description) return failed(complain_of_reading(description.error()));
  const auto network = codec::plan_network(*description, flags.import, flags.free);
  if (!network) return failed(complain_of_input(network.error(), flags.network));
  auto inputs = cluster_of(network->json);
  if (!inputs) return failed(complain_of_input(std::move(inputs).error(), flags.network));
  for (const std::string& warning : network->warnings) warn(warning);
  if (!flags.jobs.empty()) {
    const auto text = read_input(flags.jobs, limits::kMaxTraceBytes);
    if (!text) return failed(complain_of_reading(text.error()));
    auto trace = codec::read_gang_trace(*text, inputs->levels);
    if (!trace) return failed(complain_of_input(std::move(trace).error(), flags.jobs));
    inputs->trace = *std::move(trace);
  }
  if (simulate::free_chips(inputs->cluster) == 0 ||
      (!flags.jobs.empty() && inputs->trace.gangs.empty()))
    return failed(
        complain("nothing to simulate: no node has chips, or no job asks for any", Exit::findings));
  return *std::move(inputs);
}

int most_chips(const solver::Fabric& cluster) {
  int most = 0;
  for (solver::FabricNodeId id = 0; id < cluster.node_numbers(); ++id)
    if (cluster.node(id).healthy) most = std::max(most, cluster.node(id).free);
  return most;
}

Result<simulate::GangMix> mix_of(const GangFlags& flags, const solver::Fabric& cluster) {
  simulate::GangMix mix;
  const bool powers = flags.sizes != "log-uniform";
  mix.sizes = powers ? simulate::GangSizes::powers_of_two : simulate::GangSizes::log_uniform;
  mix.pod_chips = static_cast<int>(flags.pod_chips.value_or(most_chips(cluster)));
  mix.smallest = flags.smallest.value_or(1);
  mix.largest = flags.largest.value_or(std::max(
      mix.smallest, std::min(kLargestInPods * mix.pod_chips, simulate::free_chips(cluster))));
  if (mix.largest < mix.smallest)
    return make_error(Errc::invalid_argument,
                      fmt::format("--largest: expected at least --smallest, {}, got {}",
                                  mix.smallest, mix.largest));
  if (mix.largest / mix.pod_chips >= limits::kMaxGangPods)
    return make_error(
        Errc::invalid_argument,
        fmt::format("--largest: expected fewer than {} pods of {} chips, got {} chips",
                    limits::kMaxGangPods, mix.pod_chips, mix.largest));
  const auto smallest = static_cast<std::uint64_t>(mix.smallest);
  if (powers && std::bit_ceil(smallest) > static_cast<std::uint64_t>(mix.largest))
    return make_error(
        Errc::invalid_argument,
        fmt::format("--sizes: expected a power of two from --smallest {} to --largest {}, got none",
                    mix.smallest, mix.largest));
  return mix;
}

std::string mix_text(const simulate::GangMix& mix) {
  return fmt::format("of {} to {} chips ({}), in pods of at most {}", mix.smallest, mix.largest,
                     mix.sizes == simulate::GangSizes::powers_of_two
                         ? "powers of two, all equally likely"
                         : "log-uniform",
                     mix.pod_chips);
}

// The gangs, and how they arrive in words.
struct Drawn {
  std::vector<TraceGang> gangs;
  std::string text;
};

Result<Drawn> gangs_of(const GangFlags& flags, const ReplayFlags& replay,
                       const GangInputs& inputs) {
  const domain::GangTrace& trace = inputs.trace;
  Drawn out;
  if (trace.timed && !replay.load && !replay.rate) {
    if (replay.count || replay.duration)
      return make_error(Errc::invalid_argument,
                        std::string(replay.count ? "--count" : "--duration") +
                            " requires --load or --arrival-rate: the jobs have times of their own");
    return Drawn{trace.gangs, "the jobs of the file at their own times"};
  }
  simulate::RandomNumbers random(replay.seed);
  if (trace.gangs.empty()) {
    auto mix = mix_of(flags, inputs.cluster);
    if (!mix) return std::move(mix).error();
    out.gangs = simulate::drawn_gangs(*mix, replay.count.value_or(kDrawnGangs), random);
    out.text = fmt::format("{} gangs {}", out.gangs.size(), mix_text(*mix));
  } else {
    out.gangs =
        simulate::drawn_gangs(trace.gangs, replay.count.value_or(trace.gangs.size()), random);
    out.text = fmt::format("{} jobs drawn from the file", out.gangs.size());
  }
  out.text += fmt::format(" (seed {}), ", replay.seed);
  if (trace.timed && !replay.duration) {
    out.text += "running as long as in the file";
  } else {
    const double mean = replay.duration.value_or(kMeanDuration);
    simulate::draw_durations(out.gangs, mean, random);
    out.text += fmt::format("running for {:g} s on average", mean);
  }
  double gap = 0;
  if (replay.rate) {
    gap = kHour / *replay.rate;
    out.text += fmt::format(", {:g} an hour", *replay.rate);
  } else {
    const double percent = replay.load.value_or(kLoadPercent);
    gap = simulate::gap_of_load(out.gangs, percent / 100, simulate::free_chips(inputs.cluster));
    out.text += fmt::format(", so often that they ask for {:g} % of the chips", percent);
  }
  simulate::draw_arrivals(out.gangs, gap, random);
  return out;
}

Result<int> level_of(const char* flag, const std::optional<std::string>& name,
                     const std::vector<std::string>& levels) {
  if (!name) return domain::kNoLevel;
  const auto at = std::find(levels.begin(), levels.end(), *name);
  if (at != levels.end()) return static_cast<int>(at - levels.begin());
  return make_error(Errc::invalid_argument,
                    unknown_name("level", *name, {levels.begin(), levels.end()}))
      .in(flag);
}

// Levels for gangs that name none.
Result<void> add_levels(const GangFlags& flags, const GangInputs& inputs,
                        std::vector<TraceGang>& gangs) {
  const auto required = level_of("--required", flags.required, inputs.levels);
  if (!required) return required.error();
  const auto preferred = level_of("--preferred", flags.preferred, inputs.levels);
  if (!preferred) return preferred.error();
  for (TraceGang& gang : gangs) {
    if (gang.required_level != domain::kNoLevel || gang.preferred_level != domain::kNoLevel)
      continue;
    gang.required_level = *required;
    gang.preferred_level = *preferred;
  }
  return {};
}

void add_notes(const GangInputs& inputs, GangSimulationReport& report) {
  if (inputs.trace.without_chips > 0)
    report.notes.push_back(fmt::format("rows of the file without chips, which are left out: {}",
                                       inputs.trace.without_chips));
  if (!inputs.nested)
    report.notes.push_back(
        "the accelerators' domains do not nest in those of the switches: a switch domain counts "
        "once for each of them");
  if (inputs.machines)
    report.notes.push_back("chips of a node are counted: which sets its machine allows is ignored");
}

Exit replay_all(const ReplayFlags& flags, double patience_s, const GangInputs& inputs,
                const std::vector<TraceGang>& gangs, GangSimulationReport& report) {
  std::vector<const simulate::NamedGangPlacer*> chosen;
  for (const simulate::NamedGangPlacer& one : simulate::gang_placers()) {
    const auto& named = flags.policies;
    if (named.empty() || std::find(named.begin(), named.end(), one.name) != named.end())
      chosen.push_back(&one);
  }
  const auto alone = simulate::alone_gangs(gangs, inputs.cluster, inputs.levels);
  Progress progress(chosen.size() * gangs.size());
  simulate::GangReplayOptions options;
  options.patience_s = patience_s;
  options.clock_ns = steady_ns;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string name(chosen[i]->name);
    options.progress = [&, i](std::size_t done) { progress.show(i * gangs.size() + done, name); };
    const std::unique_ptr<simulate::GangPlacer> placer = chosen[i]->make(inputs.levels);
    auto replayed = simulate::replay_gangs({gangs, alone, inputs.cluster}, *placer, options);
    if (!replayed) return complain(replayed.error(), Exit::unreadable);
    report.policies.push_back({name, std::string(chosen[i]->help),
                               simulate::summary_of(gangs, *replayed),
                               std::move(replayed->samples)});
  }
  return Exit::fine;
}

}  // namespace

Exit run_gang_simulation(const GangFlags& flags, const ReplayFlags& replay) {
  if (const std::string wrong = wrong_gang_flags(flags, replay); !wrong.empty())
    return complain(wrong, Exit::usage);
  Exit exit = Exit::fine;
  const std::optional<GangInputs> inputs = read_gang_inputs(flags, exit);
  if (!inputs) return exit;
  auto drawn = gangs_of(flags, replay, *inputs);
  if (!drawn) return complain(drawn.error(), Exit::usage);
  if (auto levels = add_levels(flags, *inputs, drawn->gangs); !levels)
    return complain(levels.error(), Exit::usage);
  GangSimulationReport report;
  report.nodes = inputs->cluster.size();
  report.chips = simulate::free_chips(inputs->cluster);
  report.levels = inputs->levels;
  report.gangs = std::move(drawn->text);
  report.seed = replay.seed;
  report.patience_s = flags.patience_s;
  add_notes(*inputs, report);
  exit = replay_all(replay, flags.patience_s, *inputs, drawn->gangs, report);
  if (exit != Exit::fine) return exit;
  return printed(replay.form == OutputForm::json ? report_json(report) + "\n"
                                                 : report_text(report, colour_wanted()));
}

}  // namespace chipweave::cli
