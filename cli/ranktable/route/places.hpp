// Where the machines of a job are: from a description of the network, or from the leaf switches
// that their devices report.
#pragma once

#include <string>
#include <vector>

#include "common/domain/network_table.hpp"
#include "common/solver/ranks/route_plan.hpp"

namespace chipweave::cli {

// The machine of one pod.
struct RouteMachine {
  std::string host;                // equal for pods of one machine; empty: not scheduled yet
  std::vector<std::string> names;  // names in a network description, the best first
  std::vector<std::string> tors;   // leaf switch of each device; empty: not known
};

struct RoutePlaces {
  std::vector<std::string> levels;
  std::vector<solver::RoutePod> pods;
  std::vector<std::string> ambiguous;  // "gpu01" could be gpu01.a or gpu01.b
};

RoutePlaces places_in(const domain::NetworkTable& network,
                      const std::vector<RouteMachine>& machines);
// For each machine the coarsest domain of the accelerator interconnect; "" if not known.
std::vector<std::string> super_pods_in(const domain::NetworkTable& network,
                                       const std::vector<RouteMachine>& machines);
// One level, "tor": machines that share a switch are one domain.
RoutePlaces places_by_tors(const std::vector<RouteMachine>& machines);

}  // namespace chipweave::cli
