// The accelerators and NICs of an hwloc XML file. Included by hwloc_*.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/hardware/host_devices.hpp"
#include "common/codec/topology/xml/xml_document.hpp"

namespace chipweave::codec {

// index: 0 until number_chips() has run. bus_id: "" for one seen as an OS device only.
struct HwlocGpu : HostGpu {
  std::string serial;   // shared by the dies of one AMD package
  double pci_gbps = 0;  // PCIe link as hwloc prints it, GB/s; 0 unknown
  // Its number in each tool: "nvml", "rsmi", "cuda", "opencl".
  std::map<std::string, int, std::less<>> numbers;
};

struct HwlocMachine : HostMachine<HwlocGpu> {
  HwlocMachine() { tree = HostTree{1}; }
  std::map<std::uint64_t, int>
      gpu_of_object;  // gp_index of a GPU's PCI or OS device → position in gpus
  std::set<std::uint64_t> nvswitch_objects;  // gp_index of PCI devices that are NVSwitches
};

// Numbers every GPU as its vendor's tool does. If a GPU has no number or two share one (an NVIDIA
// and an AMD card can both be number 0), numbers them in the order of the file, with a warning.
void number_chips(HwlocMachine& machine);

// Root element <topology>, any hwloc generation (no version attribute, 2.x, 3.x).
Result<HwlocMachine> read_hwloc_machine(const XmlDocument& document);

}  // namespace chipweave::codec
