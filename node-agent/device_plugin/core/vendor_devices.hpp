// Which chips the devices of a vendor's own plugin are. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "node-agent/device_plugin/core/devices.hpp"

namespace chipweave::device_plugin {

struct VendorDevices {
  std::vector<std::string> ids;  // by slot; "": the vendor's plugin does not offer that chip
  ChipSet healthy;
  std::vector<std::string> unknown;  // no chips of this machine: slices, replicas
};

// Devices are found by any of the names that a chip has (id_forms).
VendorDevices vendor_devices(const domain::NodeTopology& topology,
                             const std::vector<OfferedDevice>& devices);

}  // namespace chipweave::device_plugin
