// chipweave rank: the order in which hosts or placed pods should be numbered; a hostfile in rank
// order for a network by flags, or many requests by --batch.
//
// Flags and files are turned into a line of the batch form, with hosts as pods, so that both forms
// share keys, checks and results.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/parallel_flags.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/codec/network/hostfile.hpp"
#include "common/codec/network/plan_network.hpp"
#include "common/domain/network/host_names.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/rank_order.hpp"
#include "common/solver/ranks/weighted_order.hpp"

namespace chipweave::cli {
namespace {

struct RankFlags {
  BatchFlags batch;
  std::string network;
  codec::NetworkImportOptions import;
  std::string hosts;
  ParallelFlags parallel;
  OutputForm form = OutputForm::text;
};

struct RankedLine {
  std::string answer;  // as the batch form prints it
  codec::RankRequest request;
  codec::RankAnswer order;
};

struct Weighed {
  Result<solver::PodTraffic> traffic;
  solver::WeightedOrder order;
};

// The best order for the request's communicators, and its cost.
Result<codec::RankAnswer> weigh(const codec::RankRequest& request, Timing& timing) {
  const std::size_t levels = request.levels.size();
  Weighed found = timing.timed([&] {
    Weighed out{solver::pod_traffic(*request.communicators, request.paths.size()), {}};
    if (out.traffic) out.order = solver::weighted_order(levels, request.paths, *out.traffic);
    return out;
  });
  if (!found.traffic) return std::move(found.traffic).error().in("communicators");
  const solver::PodTraffic& traffic = *found.traffic;
  const auto crossings = [&](const std::vector<std::size_t>& order) {
    return solver::communicator_crossings(levels, request.paths, traffic, order);
  };
  const auto cost = [&](const std::vector<std::size_t>& order) {
    return solver::weighted_cost(traffic, crossings(order));
  };
  codec::CommunicatorCosts costs;
  costs.crossings = crossings(found.order.order);
  costs.weighted = solver::weighted_cost(traffic, costs.crossings);
  costs.depth_first_weighted = cost(solver::depth_first(levels, request.paths));
  costs.input_weighted = cost(solver::as_given(request.paths.size()));
  costs.optimal = found.order.optimal;
  for (const auto& communicator : traffic.communicators) costs.names.push_back(communicator.name);
  codec::RankAnswer out;
  out.order = std::move(found.order.order);
  out.communicators = std::move(costs);
  return out;
}

Result<RankedLine> rank_line(codec::RankLine line, Timing& timing) {
  if (!line.request) return std::move(line.request).error();
  codec::RankRequest& request = *line.request;
  const std::size_t levels = request.levels.size();
  codec::RankAnswer out;
  if (request.communicators) {
    auto weighed = weigh(request, timing);
    if (!weighed) return std::move(weighed).error();
    out = std::move(weighed).value();
  } else {
    out.order = timing.timed([&] { return solver::depth_first(levels, request.paths); });
  }
  out.crossings = solver::ring_crossings(levels, request.paths, out.order);
  out.input_crossings =
      solver::ring_crossings(levels, request.paths, solver::as_given(request.paths.size()));
  std::string answer = codec::write_rank_answer(line.id, request, out);
  return RankedLine{std::move(answer), std::move(request), std::move(out)};
}

using Path = std::vector<std::string>;

// A path for each host; hosts that the network lacks get none, with a warning. Errors: it lacks all
// of them.
Result<std::vector<Path>> paths_of(const std::vector<codec::Host>& hosts,
                                   const domain::NetworkTable& network) {
  std::vector<std::string_view> nodes;
  for (const domain::NetworkNode& node : network.nodes) nodes.push_back(node.name);
  const domain::HostNames names(nodes);
  std::vector<Path> out;
  std::vector<std::string> unknown;
  for (const codec::Host& host : hosts) {
    const domain::HostNames::Match at = names.find(host.name);
    if (!at.index) unknown.push_back(host.name);
    if (!at.candidates.empty()) warn("in the network, host " + at.ambiguity(host.name));
    out.push_back(at.index ? network.nodes[*at.index].path : Path());
  }
  if (unknown.size() == hosts.size()) {
    return make_error(Errc::not_found,
                      "expected nodes of the network, got other hosts only, such as " +
                          in_quotes(hosts.front().name))
        .in("--hosts");
  }
  constexpr std::size_t kShown = 5;
  std::string shown = joined(std::span(unknown).first(std::min(unknown.size(), kShown)), ", ");
  if (unknown.size() > kShown) shown += ", ...";
  if (!unknown.empty()) {
    warn(concat("not in the network, so at the end: ", shown, " (", unknown.size(), " of ",
                hosts.size(), " hosts)"));
  }
  return out;
}

// --ranks-per-pod, or the slots of the hosts, or 1. Communicators need the same number on every
// host.
Result<std::int64_t> ranks_per_host(const RankFlags& flags, const std::vector<codec::Host>& hosts) {
  const std::int64_t wanted = flags.parallel.ranks_per_pod.value_or(hosts.front().slots);
  for (const codec::Host& host : hosts) {
    const bool unspecified = flags.parallel.ranks_per_pod && host.slots == 0;
    if (unspecified || host.slots == wanted) continue;
    const std::string slots = host.slots == 0 ? "no slots" : "slots=" + std::to_string(host.slots);
    const std::string others = flags.parallel.ranks_per_pod
                                   ? "--ranks-per-pod " + std::to_string(wanted)
                                   : "another number of " + in_quotes(hosts.front().name);
    return make_error(Errc::invalid_argument,
                      concat("expected the same number of ranks on every host for communicators, "
                             "got ",
                             slots, " of ", in_quotes(host.name), " and ", others))
        .in("--hosts");
  }
  return std::max<std::int64_t>(wanted, 1);
}

// The request's communicators; empty: no flag names any.
Result<std::string> communicators_json(const RankFlags& flags,
                                       const std::vector<codec::Host>& hosts) {
  const ParallelFlags& parallel = flags.parallel;
  if (!parallel.any()) return std::string();
  // Wrong numbers are rejected together with the other keys.
  if (parallel.ranks_per_pod && *parallel.ranks_per_pod < 1)
    return parallel.json(parallel.ranks_per_pod);
  const auto ranks = ranks_per_host(flags, hosts);
  if (!ranks) return Error(ranks.error());
  return parallel.json(*ranks);
}

std::string rank_line_of(const std::vector<std::string>& levels,
                         const std::vector<codec::Host>& hosts, const std::vector<Path>& paths,
                         const std::string& communicators) {
  JsonWriter json;
  json.begin_object().key("levels").strings(levels).key("pods").begin_array();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    json.begin_object().field("name", hosts[i].name).key("path").strings(paths[i]).end_object();
  }
  json.end_array();
  if (!communicators.empty()) json.key("communicators").raw(communicators);
  return json.end_object().take();
}

// The benefit of the order, printed in addition to the hostfile.
void remark_on_order(const RankedLine& ranked) {
  std::string crossings;
  const codec::RankAnswer& order = ranked.order;
  for (std::size_t i = 0; i < ranked.request.levels.size(); ++i) {
    crossings += concat((i == 0 ? "" : ", "), ranked.request.levels[i], " ", order.crossings[i],
                        " (as given ", order.input_crossings[i], ")");
  }
  remark("Ring crossings: " + crossings);
  if (!order.communicators) return;
  const codec::CommunicatorCosts& costs = *order.communicators;
  remark(concat("cost of the communicators: ", costs.weighted, " (as given ", costs.input_weighted,
                ", depth-first ", costs.depth_first_weighted, "), ",
                (costs.optimal ? "proven the least" : "not proven the least")));
}

// The usage error that shows before any file is read; empty: none.
std::string rank_usage_error(const RankFlags& flags) {
  if (flags.network.empty() || flags.hosts.empty())
    return "one of --batch FILE, or --network FILE with --hosts FILE, is required; see "
           "'chipweave rank --help'";
  return standard_input_error({{"--network", flags.network}, {"--hosts", flags.hosts}});
}

Exit run_rank_flags(const RankFlags& flags) {
  if (const std::string wrong = rank_usage_error(flags); !wrong.empty())
    return complain(wrong, Exit::usage);
  const auto description = read_input(flags.network, limits::kMaxNetworkFileBytes);
  if (!description) return complain_of_reading(description.error());
  const auto network = codec::import_levelled_network(*description, flags.import);
  if (!network) return complain_of_input(network.error(), flags.network);
  const auto text = read_input(flags.hosts, limits::kMaxNetworkFileBytes);
  if (!text) return complain_of_reading(text.error());
  const auto hosts = codec::parse_hostfile(*text);
  if (!hosts) return complain_of_input(hosts.error(), flags.hosts);
  for (const std::string& warning : network->warnings) warn(warning);
  const auto communicators = communicators_json(flags, *hosts);
  if (!communicators) return complain_of_input(communicators.error(), flags.hosts);
  const auto paths = paths_of(*hosts, network->table);
  if (!paths) return complain_of_input(paths.error(), flags.hosts);
  Timing timing(flags.batch);
  const std::string line = rank_line_of(network->table.levels, *hosts, *paths, *communicators);
  const auto ranked = rank_line(codec::parse_rank_line(line), timing);
  // Names and paths have been checked; the error can only be in sizes given by flags.
  if (!ranked) return complain(ranked.error(), Exit::usage);
  if (flags.form == OutputForm::json) {
    if (!print(ranked->answer + "\n")) return Exit::unreadable;
  } else {
    std::string lines;
    for (const std::size_t pod : ranked->order.order) {
      const codec::Host& host = (*hosts)[pod];
      for (std::size_t i = 0; i < host.lines; ++i) lines += host.line + "\n";
    }
    if (!print(lines)) return Exit::unreadable;
    remark_on_order(*ranked);
  }
  timing.report();
  return Exit::fine;
}

// All flags of a single request. `batch` excludes them.
void add_rank_flags(CLI::App& command, RankFlags& flags, CLI::Option* batch) {
  const auto option = [&](const char* name, auto& to, const char* says, const char* form) {
    add_value(command, name, form, to, says)->excludes(batch);
  };
  option("--network", flags.network, "where nodes are: a description in any format; -: stdin",
         "FILE");
  for (CLI::Option* o : add_network_options(command, flags.import)) o->excludes(batch);
  option("--hosts", flags.hosts,
         "hosts: a hostfile, a node file of PBS or a host list of Slurm; -: stdin", "FILE");
  add_parallel_flags(command, flags.parallel, batch,
                     "ranks on each host; default: its slots, or 1");
}

}  // namespace

void register_rank(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<RankFlags>();
  CLI::App* c =
      app.add_subcommand("rank", "order hosts, or pods that have a place, from a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  add_rank_flags(*c, *flags, batch);
  add_output_option(*c, flags->form);
  add_examples(
      *c,
      "  scontrol show hostnames | chipweave rank --network topology.conf --hosts - > hosts\n"
      "  mpirun --hostfile hosts --map-by seq ...\n"
      "  chipweave rank --network topology.conf --hosts hosts --tensor 8 --pipeline 4\n"
      "  echo '{\"id\":1,\"levels\":[\"spine\",\"leaf\"],\"pods\":[{\"name\":\"p0\","
      "\"path\":[\"s0\",\"l1\"]}]}' | chipweave rank --batch -");
  c->callback([=, &exit_code] {
    const auto answer = [](const std::string& line, Timing& timing) -> BatchAnswer {
      codec::RankLine parsed = codec::parse_rank_line(line);
      std::string id = parsed.id;
      return {std::move(id),
              rank_line(std::move(parsed), timing).transform([](const RankedLine& ranked) {
                return ranked.answer;
              })};
    };
    exit_code = batch->count() > 0 ? run_batch(flags->batch, limits::kMaxPlanLineBytes, answer)
                                   : run_rank_flags(*flags);
  });
}

}  // namespace chipweave::cli
