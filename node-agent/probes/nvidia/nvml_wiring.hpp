// NvmlWiring — which devices the NVLinks of a snapshot connect, how many lanes of them are up, and
// each as a port. Part of nvml_topology.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/text/warnings.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"

namespace chipweave::agent {

class NvmlWiring {
 public:
  struct Lanes {
    int total = 0;
    int down = 0;
  };
  // The snapshot must outlive it. Positions below are those of snapshot.devices.
  NvmlWiring(const NvmlSnapshot& snapshot, codec::Warnings& warnings);

  // Direct links by pair, first position below the second.
  std::map<std::pair<int, int>, Lanes> direct();
  // Lanes to the NVSwitches by device. If a device has fewer than others of its model, the
  // difference counts as down: the driver does not report where a link that is down leads.
  std::map<int, Lanes> switched() const;
  // The links of direct() and switched(), one port per end; ascending by chip and number.
  std::vector<domain::Port> ports() const;

 private:
  struct End {
    int up = 0;
    int down = 0;
  };
  void take(int from, const NvmlLink& link);
  void add_port(int from, const NvmlLink& link, std::optional<int> peer);
  int peer_of(const NvmlLink& link) const;
  void count(End& end, bool active) const { ++(active ? end.up : end.down); }
  const NvmlDevice& device(int at) const { return devices_[static_cast<std::size_t>(at)]; }

  const std::vector<NvmlDevice>& devices_;
  codec::Warnings& warnings_;
  std::map<std::string, int> by_pci_;
  std::map<std::pair<int, int>, End> ends_;  // as the first device reports them
  std::map<int, End> to_switch_;
  // Links that are down, with an unknown other end.
  std::map<int, std::vector<unsigned>> unknown_down_;
  std::vector<domain::Port> ports_;
};

// MIG instances cannot use NVLink.
bool has_mig(const NvmlDevice& device);

}  // namespace chipweave::agent
