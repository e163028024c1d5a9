// Where the machines of a job are, as route planning takes it: from a description of the network,
// or from the leaf switches that their devices report.
#pragma once

#include <string>
#include <vector>

#include "common/domain/network_table.hpp"
#include "common/solver/ranks/route_plan.hpp"

namespace chipweave::cli {

// The machine of one pod.
struct RouteMachine {
  std::string host;                // equal for pods of one machine; empty: it has no place yet
  std::vector<std::string> names;  // under which a network may know it, the best first
  std::vector<std::string> tors;   // the leaf switch of each device; empty: not known
};

struct RoutePlaces {
  std::vector<std::string> levels;
  std::vector<solver::RoutePod> pods;
};

RoutePlaces places_in(const domain::NetworkTable& network,
                      const std::vector<RouteMachine>& machines);
// By machine, the coarsest domain of the accelerators' own interconnect; "" where it is not known.
std::vector<std::string> super_pods_in(const domain::NetworkTable& network,
                                       const std::vector<RouteMachine>& machines);
// One level, "tor": machines that share a switch are together.
RoutePlaces places_by_tors(const std::vector<RouteMachine>& machines);

// What a rank table may call the leaf of such a path: the leaf's own name where it is an address or
// where there is no other level, else the whole path, so that two leaves never have one name. ""
// where the path is not known to its end.
std::string leaf_name(std::size_t levels, const solver::RankPath& path);

}  // namespace chipweave::cli
