#include "cli/cluster/scheduler_way.hpp"

#include <utility>

#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "common/kube/access.hpp"

namespace chipweave::cli {
namespace {

// Whether the command line itself has --scheduler; the environment has it for all commands.
bool has_scheduler_flag(const SchedulerWay& way) {
  const std::string& url = way.scheduler.url;
  return !url.empty() && url != kube::process_environment()("CHIPWEAVE_SCHEDULER").value_or("");
}

}  // namespace

std::string SchedulerWay::default_namespace(const std::string& ns) const {
  if (!ns.empty()) return ns;
  return config ? config->ns : "default";
}

void add_way_options(const CLI::App& app, CLI::App& command, SchedulerWay& way) {
  add_scheduler_option(command, way.scheduler)->required(false);  // choose_way() checks it
  add_cluster_options(command, way.cluster);
  way.cluster.plugin = app.get_name() == kPluginName;
}

Exit choose_way(SchedulerWay& way) {
  const bool direct = has_scheduler_flag(way);
  if (direct && way.cluster.has_flags())
    return complain(
        "--scheduler cannot be combined with --kubeconfig, --context and --scheduler-service",
        Exit::usage);
  if (!direct && way.cluster.any()) {
    auto config = choose_config(way.cluster);
    if (!config) return complain(config.error(), exit_for(config.error()));
    way.config = *std::move(config);
    return Exit::fine;
  }
  return way.scheduler.url.empty()
             ? complain("--scheduler is required, or --kubeconfig or --context for a cluster's",
                        Exit::usage)
             : Exit::fine;
}

Result<Transport> connect(const SchedulerWay& way) {
  return way.config ? connect_through_cluster(way.cluster, *way.config, way.scheduler.token_file)
                    : connect(way.scheduler);
}

}  // namespace chipweave::cli
