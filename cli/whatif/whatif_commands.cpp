// chipweave where, chipweave what-if: questions about a live scheduler that change nothing.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/scheduler_way.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/whatif/node_loss.hpp"
#include "cli/whatif/where.hpp"
#include "common/base/limits.hpp"

namespace chipweave::cli {
namespace {

constexpr const char* kNotConsidered =
    "Nothing is reserved. Not considered: taints, node selectors, CPU, memory, distances in the\n"
    "network, and preemption.\n";

struct WhereState {
  SchedulerWay way;
  std::string resource;
  int chips = 0;
  int pods = 1;
  bool distributed = false;
  std::vector<std::string> nodes;
  OutputForm form = OutputForm::text;
};

struct WhatIfState {
  SchedulerWay way;
  std::vector<std::string> fail, drain;
  OutputForm form = OutputForm::text;
};

Exit refused(const Error& error) { return complain(error, exit_for_object(error)); }

Exit run_where(const WhereState& state) {
  Result<Transport> transport = connect(state.way);
  if (!transport) return refused(transport.error());
  SchedulerClient scheduler(*std::move(transport));
  const auto pods = scheduler.pods();
  if (!pods) return refused(pods.error());
  auto model = read_model(scheduler, *pods);
  if (!model) return refused(model.error());
  if (auto only = restrict_to_named(*model, state.nodes); !only) return refused(only.error());
  const auto resource = resource_for(*model, state.resource);
  if (!resource) return complain(resource.error(), exit_for(resource.error()));
  PodNeed need;
  need.resource = *resource;
  need.chips = state.chips;
  need.distributed = state.distributed;
  // No pod of the cluster has a job without a namespace.
  if (state.distributed) need.job = "/where";
  const Places places = find_places(*model, need, state.pods);
  const bool written =
      print(state.form == OutputForm::json ? places_json(*model, places)
                                           : places_text(*model, places, colour_wanted()));
  if (!written) return Exit::unreadable;
  return places.all_fit() ? Exit::fine : Exit::findings;
}

Result<LiveState> read_live_state(SchedulerClient& scheduler) {
  LiveState out;
  auto nodes = scheduler.nodes_with_topologies();
  if (!nodes) return std::move(nodes).error();
  out.nodes = *std::move(nodes);
  auto pods = scheduler.pods();
  if (!pods) return std::move(pods).error();
  out.pods = *std::move(pods);
  auto gangs = scheduler.list("/api/v1/gangs").and_then(codec::read_gang_summaries);
  if (!gangs) return std::move(gangs).error();
  out.gangs = *std::move(gangs);
  return out;
}

Exit run_what_if(const WhatIfState& state) {
  if (state.fail.empty() == state.drain.empty())
    return complain(
        "one of --fail NODE and --drain NODE is required; see 'chipweave what-if --help'",
        Exit::usage);
  Result<Transport> transport = connect(state.way);
  if (!transport) return refused(transport.error());
  SchedulerClient scheduler(*std::move(transport));
  const auto live = read_live_state(scheduler);
  if (!live) return refused(live.error());
  const bool fails = state.drain.empty();
  const auto loss =
      lose_nodes(*live, fails ? state.fail : state.drain, fails ? LossKind::fail : LossKind::drain);
  if (!loss) return refused(loss.error());
  const bool written =
      print(state.form == OutputForm::json ? node_loss_json(*loss)
                                           : node_loss_text(*loss, colour_wanted()));
  if (!written) return Exit::unreadable;
  return loss->all_fit() ? Exit::fine : Exit::findings;
}

}  // namespace

void register_where(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<WhereState>();
  CLI::App* c = app.add_subcommand(
      "where", "on which nodes a pod of so many chips would fit now, best first");
  add_value(*c, "--chips", "N", state->chips, "chips of the pod")
      ->check(CLI::Range(1, limits::kMaxChipsOfPod))
      ->required();
  add_value(*c, "--resource", "NAME", state->resource,
            "accelerator resource; required where nodes offer several");
  add_value(*c, "--pods", "N", state->pods, "place so many such pods, one after another")
      ->check(CLI::Range(1, limits::kMaxManifestPods));
  c->add_flag("--distributed", state->distributed,
              "the pod is one of several of a job; with --pods, these are of one job");
  add_value(*c, "--node", "NAME", state->nodes, "only this node; may be repeated");
  add_way_options(app, *c, state->way);
  add_output_option(*c, state->form);
  add_examples(*c, std::string("  chipweave where --chips 8 --scheduler http://127.0.0.1:8080\n"
                               "  chipweave where --chips 4 --pods 3 --distributed\n") +
                       kNotConsidered +
                       "Exit: 0 a node fits (--pods: all pods fit), 1 none does, 3 the scheduler "
                       "cannot be read, 4 --node names an unknown node.");
  run_on_way(*c, state, exit_code, run_where);
}

void register_what_if(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<WhatIfState>();
  CLI::App* c = app.add_subcommand(
      "what-if", "which pods lose their chips with a node, and where they would fit then");
  CLI::Option* fail = add_value(*c, "--fail", "NODE...", state->fail,
                                "these nodes fail: they are gone with their free chips");
  add_value(*c, "--drain", "NODE...", state->drain,
            "these nodes are drained: they take no pods, and theirs end one by one")
      ->excludes(fail);
  add_way_options(app, *c, state->way);
  add_output_option(*c, state->form);
  add_examples(*c,
               std::string("  chipweave what-if --fail gpu-3 --scheduler http://127.0.0.1:8080\n"
                           "  chipweave what-if --drain gpu-3 gpu-4 -o json\n") +
                   kNotConsidered +
                   "Exit: 0 all pods that lose chips fit elsewhere, 1 some do not, 3 the "
                   "scheduler cannot be read, 4 there is no such node.");
  run_on_way(*c, state, exit_code, run_what_if);
}

}  // namespace chipweave::cli
