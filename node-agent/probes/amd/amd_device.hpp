// AmdDevice — what amdgpu's files report about one package (a PCI function) at one moment: error
// counters, partitions, temperature, XGMI lanes.
//
// Files below /sys/class/drm/card<n>/device, which is the PCI device's folder, as described in the
// kernel's documentation and sources (Documentation/gpu/amdgpu: ras, thermal, xgmi;
// drivers/gpu/drm/amd/amdgpu: amdgpu_ras.c, amdgpu_xgmi.c, amdgpu_gfx.c); no AMD machine was
// available. Nearly every file is absent on some chip, so an absent one is not an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/probes/sysfs/sysfs_tree.hpp"

namespace chipweave::agent {

// ras/<block>_err_count: "ue: 0", "ce: 1", and "de: 0" where errors are deferred. Totals since
// the driver was loaded; reading one makes the driver query the chip.
struct RasCounts {
  std::optional<std::uint64_t> uncorrected;
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> deferred;
};

// xgmi_port_num: one "<node>:<port> -> <node>:<port>" per lane; the first end is this package's.
struct XgmiLane {
  int port = 0;
  std::string peer;  // PCI address
};

struct AmdDevice {
  std::map<std::string, RasCounts> ras;  // by block: "umc", "gfx", "xgmi_wafl"
  bool resetting = false;         // the driver refuses its counters, as during a reset of the chip
  std::string compute_partition;  // "SPX", "CPX"; "" if the chip has no partitions
  std::string memory_partition;   // "NPS1"
  std::optional<double> celsius;  // the hottest of its sensors
  std::string overheated;         // which sensors are at their critical temperature; "" none
  std::vector<XgmiLane> lanes;
  std::uint64_t xgmi_errors = 0;  // since the last reading; see read_xgmi_errors
};

// Reads the device at a PCI address, except xgmi_errors.
AmdDevice read_amd_device(const SysfsTree& tree, const std::string& pci);

// The counters alone, by block.
std::map<std::string, RasCounts> read_amd_ras(const SysfsTree& tree, const std::string& pci);

// xgmi_error: 0 none, 1 one, 2 several. Reading clears it, and on a chip without these counters
// makes the driver write to the kernel's log, so read it no more often than needed.
std::uint64_t read_xgmi_errors(const SysfsTree& tree, const std::string& pci);

// The values whose change calls for a new observation: counters, reset, overheating.
std::string health_state(const SysfsTree& tree, const std::string& pci);

}  // namespace chipweave::agent
