// The network, free chips and running pods of a live cluster, as a request of `plan` has them: from
// chipweave-scheduler (machines and their free chips) and from an API server (where nodes are, and
// counts of free chips where there is no scheduler to say which ones).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/scheduler_client.hpp"
#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

struct LiveClusterFlags {
  SchedulerAddress scheduler;
  std::string kubeconfig, context, resource;
  std::string job;  // NAMESPACE/NAME of a job whose pods run already
  bool any() const { return !scheduler.url.empty() || !kubeconfig.empty(); }
};

// --scheduler and its credentials, --kubeconfig, --kube-context, --resource, --job.
void add_live_options(CLI::App& command, LiveClusterFlags& flags, CLI::Option* batch);
// The usage error of these flags among themselves; empty: none.
std::string live_usage_error(const LiveClusterFlags& flags);

struct LiveCluster {
  std::string network;   // the key `network` of a request
  std::string existing;  // the key `existing` of its gang: pods of --job; empty: none asked for
  std::map<std::string, domain::NodeTopology> machines;  // that nodes name in `machine`
  std::vector<std::string> warnings;
};

// description: of the network, in any format that the command takes; empty: the API server's
// objects, or without one all nodes in one level "hostname". free: chips of nodes whose free chips
// are not known otherwise. Errors: the server did not answer, or not as expected; what
// codec::plan_network() reports.
Result<LiveCluster> read_live_cluster(const LiveClusterFlags& flags, const std::string& description,
                                      const codec::NetworkImportOptions& import,
                                      std::optional<std::int64_t> free);

}  // namespace chipweave::cli
