// chipweave route plan, init
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/ranktable/route/commands.hpp"

namespace chipweave::cli {
namespace {

void add_input_options(CLI::App& command, RouteInputFlags& inputs) {
  add_value(command, "--pods", "FILE", inputs.pods,
            "the job's pods: kubectl get pods -o json; -: standard input");
  add_value(command, "--nodes", "FILE", inputs.nodes,
            "their nodes, for addresses and switches: kubectl get nodes -o json");
  add_value(command, "--hosts", "FILE", inputs.hosts,
            "instead of pods: a hostfile in the order of pod indexes");
  add_value(command, "--network", "FILE", inputs.network,
            "where nodes are: a description in any format; without: what devices report");
  add_network_options(command, inputs.import);
  add_value(command, "--job", "[NAMESPACE/]NAME", inputs.choice.job,
            "which job, where there are pods of several");
  add_value(command, "--task", "NAME", inputs.choice.task, "which task, where several use NPUs");
  add_value(command, "--replicas", "N", inputs.choice.replicas,
            "pods that the task has when complete")
      ->check(CLI::Range(1, 100000));
}

void add_out_options(CLI::App& command, RoutePlanFlags& flags) {
  CLI::Option* out = add_value(command, "--out", "FOLDER", flags.out,
                               "write tables, ConfigMaps and annotation values here");
  add_value(command, "--previous", "FILE", flags.inputs.previous,
            "the former jobstart_hccl.json: its ranks stay")
      ->needs(out);
  command.add_flag("--hyperjob", flags.hyperjob, "the rank table must be of version 1.2")
      ->needs(out);
  add_value(command, "--manifest", "yaml|json", flags.manifest, "how ConfigMaps are written")
      ->check(CLI::IsMember({"yaml", "json"}))
      ->needs(out);
  command
      .add_flag("--compress", flags.compress, "gzip and base64 for the rank table in its ConfigMap")
      ->needs(out);
}

void add_plan(CLI::App& route, Exit& exit_code) {
  auto flags = std::make_shared<RoutePlanFlags>();
  CLI::App* command = route.add_subcommand(
      "plan", "number a job's pods so that neighbours in the ring of ranks share a switch");
  add_input_options(*command, flags->inputs);
  command->add_flag("--cabinet", flags->cabinet,
                    "hand down topology although pods have no annotation cabinet");
  add_out_options(*command, *flags);
  add_output_option(*command, flags->form);
  add_examples(*command,
               "  kubectl get pods -l volcano.sh/job-name=train -o json |\n"
               "    chipweave route plan --pods - --network basic-tor-node-cm.json --out plan\n"
               "  kubectl apply -f plan/ranktable-train.yaml -f plan/torlist-train.yaml\n"
               "  chipweave route plan --hosts hostfile --network topology.conf -o json");
  command->callback([flags, &exit_code] { exit_code = run_route_plan(*flags); });
}

void add_init(CLI::App& route, Exit& exit_code) {
  auto flags = std::make_shared<RouteInitFlags>();
  CLI::App* command = route.add_subcommand(
      "init", "in an init container: write this pod's new rank and the master's index");
  add_value(*command, "--index", "N", flags->index, "this pod's index in its task")
      ->envname("VC_TASK_INDEX")
      ->check(CLI::Range(0, 99999))
      ->required();
  add_value(*command, "--replicas", "N", flags->replicas, "pods of the job")
      ->envname("MA_NUM_HOSTS")
      ->check(CLI::Range(1, 100000));
  add_value(*command, "--config", "FOLDER", flags->config, "where the job's ConfigMaps are mounted")
      ->capture_default_str();
  add_value(*command, "--wait", "TIME", flags->wait,
            "how long for tables to be complete: 30m, 90s, 1h")
      ->capture_default_str();
  add_value(*command, "--network", "FILE", flags->network,
            "where nodes are, instead of the tables' switches");
  add_network_options(*command, flags->import);
  add_value(*command, "--hosts", "FILE", flags->hosts,
            "with --network, instead of tables: a hostfile");
  add_value(*command, "--dir", "FOLDER", flags->dir,
            "where RANK_AFTER_ACC and MASTER_INDEX are written")
      ->capture_default_str();
  add_examples(*command,
               "  VC_TASK_INDEX=0 chipweave route init --config /user/config --dir /tmp\n"
               "  chipweave route init --index 3 --hosts hostfile --network topology.conf\n"
               "docs/tasks/modelarts-route-planning.md has the container's manifest.");
  command->callback([flags, &exit_code] { exit_code = run_route_init(*flags); });
}

}  // namespace

void register_route(CLI::App& app, Exit& exit_code) {
  CLI::App* route = app.add_subcommand("route", "route planning: ranks that follow the switches");
  route->require_subcommand(1);
  add_plan(*route, exit_code);
  add_init(*route, exit_code);
}

}  // namespace chipweave::cli
