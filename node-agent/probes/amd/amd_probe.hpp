// AmdProbe — AMD accelerators: wiring and partitions from KFD, health from amdgpu's files, NICs and
// host paths from the host.
//
// Reads sysfs only, no library. A chip that disappears keeps its index and its links in the
// topology, unhealthy and with the state amd.gone, as long as the others stay the same; KFD would
// renumber them. New chips, or packages with other partitions, make a new machine. A card that was
// removed for good is forgotten at the next start of the probe.
// Tested on constructed and recorded trees only.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node-agent/probes/amd/amd_device.hpp"
#include "node-agent/probes/amd/amd_machine.hpp"
#include "node-agent/probes/host/host_neighbours.hpp"
#include "node-agent/probes/host/host_view.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct AmdOptions {
  std::string root;  // "" for this machine, or a folder that holds a tree "sys/…"
  LldpOptions lldp;
  // Error counters and temperatures are read at every n-th call of changes(), as the driver queries
  // the chip for them.
  int health_every = 4;
};

class AmdProbe final : public VendorProbe {
 public:
  explicit AmdProbe(AmdOptions options);
  // not_found: no AMD accelerator, and none before.
  Result<domain::Observation> discover() override;
  bool changes() override;
  // Of the partitions of a package, the first one has the measurements.
  std::vector<domain::ChipMetrics> sample() override;

 private:
  void remember(AmdMachine now);
  void find_gone(const HostView& host);
  bool is_gone(int slot) const;
  std::map<std::string, AmdDevice> read_devices() const;
  Result<domain::Observation> observe(const HostView& host);
  std::vector<int> come_through_reset(const std::map<std::string, AmdDevice>& devices);
  std::string generation() const;
  std::string health() const;

  const AmdOptions options_;
  const SysfsTree tree_;
  HostWatch host_;
  std::optional<AmdMachine> machine_;  // with all chips that it had
  std::vector<int> gone_;              // slots of machine_
  std::set<std::string> on_bus_;       // its cards seen on the PCI bus, addresses without function
  std::set<std::string> resetting_;    // addresses of chips that were resetting when last read
  std::string generation_seen_;
  std::string health_seen_;
  int calls_ = 0;
};

}  // namespace chipweave::agent
