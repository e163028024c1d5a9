// --kubeconfig, --context and --scheduler-service: a scheduler that is reached through the API
// server of its cluster, as `kubectl chipweave` does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "cli/scheduler_client.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// The program's name in its messages when it is started as kubectl-chipweave.
inline constexpr std::string_view kPluginName = "kubectl chipweave";
// program: a path. The plugin itself, and the program that kubectl calls for its completion.
bool is_plugin(std::string_view program);
bool is_plugin_completion(std::string_view program);

struct ClusterFlags {
  std::string kubeconfig;
  std::string context;
  std::string service;  // NAMESPACE/NAME; empty: found by its label
  bool plugin = false;  // also without any of them
  bool has_flags() const { return !kubeconfig.empty() || !context.empty() || !service.empty(); }
  bool any() const { return plugin || has_flags(); }
};

void add_cluster_options(CLI::App& command, ClusterFlags& flags);

// The file and what is in it.
struct ChosenConfig {
  std::string file;
  std::string ns;  // the context's namespace; "default" if it has none
};
// --kubeconfig, else of the files of KUBECONFIG the first that has the context, else
// ~/.kube/config.
Result<ChosenConfig> choose_config(const ClusterFlags& flags);

// A transport to the scheduler of the cluster. token_file: a reader's secret; empty: taken from the
// Secret of the chart, if the user may read it.
Result<Transport> connect_through_cluster(const ClusterFlags& flags, const ChosenConfig& config,
                                          const std::string& token_file);

}  // namespace chipweave::cli
