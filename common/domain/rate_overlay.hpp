// RateOverlay — measured constants that replace the built-in ones of a machine model: GB/s of one
// lane by kind of link, and GB/s of host paths (docs/tasks/calibrate-the-model.md).
//
// An overlay belongs to machines of one vendor and of the models that it names. Machines with the
// same wiring and different constants are different to the solver, because the constants are part
// of the topology.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// What a measured constant may be of the constant that it replaces. Constants of lanes are about
// 0.8 of the nominal rate, which no ring exceeds; built-in constants of host paths are only typical
// values. Beyond these limits the description of the machine is wrong, most often its number of
// lanes, or the run was not a ring.
inline constexpr double kMinRateChange = 0.5;
inline constexpr double kMaxLaneChange = 1.25;
inline constexpr double kMaxHostChange = 2;
// GB/s. One lane of the fastest link that is built carries less, and so does a host path.
inline constexpr double kMaxMeasuredLane = 1000;
inline constexpr double kMaxMeasuredHostPath = 400;

struct RateOverlay {
  std::string name;  // of its file, for messages
  std::string vendor;
  std::vector<std::string> models;   // as topologies name them; upper and lower case are the same
  std::map<LinkKind, double> lanes;  // of fast kinds, GB/s of one lane
  std::map<LinkKind, double> host;   // BOARD to SYS, GB/s

  bool matches(const NodeTopology& topology) const;
};

// The machine with the constants of every overlay that matches it.
NodeTopology calibrated(const NodeTopology& topology, const std::vector<RateOverlay>& overlays);

// Whether a constant of that kind can become so many times what it was.
bool change_is_possible(LinkKind kind, double change);

// The host path of that kind; precondition: BOARD to SYS.
double& host_rate(HostBandwidth& host, LinkKind kind);

// Error: two overlays give one constant of one model, so that the order of files would decide.
Result<void> check_overlays(const std::vector<RateOverlay>& overlays);

}  // namespace chipweave::domain
