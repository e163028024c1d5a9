// SchedulerWay — how a command reaches its scheduler: at the URL of --scheduler, or through the API
// server of the cluster that a kubeconfig names.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/cluster/cluster_flags.hpp"
#include "cli/commands.hpp"
#include "cli/scheduler_client.hpp"

namespace chipweave::cli {

struct SchedulerWay {
  SchedulerAddress scheduler;
  ClusterFlags cluster;
  std::optional<ChosenConfig> config;  // of the cluster, if the scheduler is reached through it

  // Where a command line names no namespace: ns, which -n gives, else that of the kubeconfig's
  // context.
  std::string default_namespace(const std::string& ns) const;
};

// --scheduler with its files, --kubeconfig, --context and --scheduler-service. app: the program, of
// whose name it depends whether the cluster is the default.
void add_way_options(const CLI::App& app, CLI::App& command, SchedulerWay& way);
// Chooses between them; Exit::fine: connect() may be called, anything else has been printed.
Exit choose_way(SchedulerWay& way);
Result<Transport> connect(const SchedulerWay& way);

// When the command is given: chooses the way of `state`, then runs it.
template <class State>
void run_on_way(CLI::App& command, const std::shared_ptr<State>& state, Exit& exit_code,
                Exit (*run)(const State&)) {
  command.callback([state, run, &exit_code] {
    exit_code = choose_way(state->way);
    if (exit_code == Exit::fine) exit_code = run(*state);
  });
}

}  // namespace chipweave::cli
