// The inputs of `route plan`: pods or hosts, their nodes, the network, a previous table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/route/places.hpp"
#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::cli {

struct RouteInputFlags {
  std::string pods, nodes, hosts, network, previous;  // files
  codec::NetworkImportOptions import;
  codec::JobPodsChoice choice;
};

struct RouteInputs {
  std::optional<codec::JobPods> job;  // nullopt: only hosts are known
  std::vector<std::string> names;     // the names of pods, or hosts
  std::vector<std::size_t> indexes;
  std::vector<RouteMachine> machines;
  std::optional<domain::NetworkTable> network;
  std::optional<domain::ranktable::RankTable> previous;
  std::vector<std::string> warnings;

  // Whether every index has a pod and every pod a machine.
  bool placed() const;
};

// Errors name the file or the flag.
Result<RouteInputs> read_route_inputs(const RouteInputFlags& flags);

// Reads a network with at least one level; adds its warnings.
Result<domain::NetworkTable> read_route_network(const std::string& file,
                                                const codec::NetworkImportOptions& options,
                                                std::vector<std::string>& warnings);
// The machines of a hostfile, in its order.
Result<std::vector<RouteMachine>> read_route_hosts(const std::string& file);

}  // namespace chipweave::cli
