// One step of an init container: is the job complete, and if so, which new rank does this pod have?
//
// All pods of a job read the same tables and make the same plan: nothing here depends on time, host
// or the order of calls.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/route/places.hpp"
#include "common/base/result.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::cli {

// Contents as mounted, compressed or not; nullopt: the file does not exist.
struct RouteTables {
  std::optional<std::string> job_start;  // jobstart_hccl.json
  std::optional<std::string> tors;       // ranktable_tor.json
  std::optional<std::string> plan;       // route_plan.json
};

struct RouteStepRequest {
  std::size_t index = 0;
  std::size_t replicas = 0;  // 0: not known
};

struct RouteStep {
  enum class Kind {
    ranked,
    keep,  // pods keep their order permanently
    wait,  // the job is not complete yet
  };
  Kind kind = Kind::wait;
  std::size_t rank = 0;
  std::size_t master = 0;
  std::string why;  // for keep and wait
};

// Uses a plan of `route plan` unchanged, unless a network is given; otherwise plans by the network,
// or by the switches of the devices. Errors: a table that cannot be read or does not tell pods
// apart, an index that it does not contain.
Result<RouteStep> route_step(const RouteTables& tables, const RouteStepRequest& request,
                             const domain::NetworkTable* network);

// From a hostfile, machines in the order of pod indexes.
Result<RouteStep> route_step(const std::vector<RouteMachine>& machines,
                             const RouteStepRequest& request, const domain::NetworkTable& network);

}  // namespace chipweave::cli
