// NvmlSampler — measures all devices: temperatures, power, memory, load, clock, ECC totals, reasons
// for the current clocks, traffic of NVLinks and PCIe.
//
// About ten calls per device, one of them for the fields of all its links. A call that fails costs
// its value in this measurement and leaves no message: what is wrong with a device is found by
// reading it. Fields that a device does not answer in the first measurement are not requested
// again; the probe makes a new sampler whenever it reads the devices. A GPU in MIG mode reports no
// utilization. Owner: the probe, on its one thread; the library must outlive it.
#pragma once

#include <vector>

#include "common/domain/chip_metrics.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

namespace chipweave::agent {

class NvmlSampler {
 public:
  // Takes the handles of the devices, whose numbers a measurement then has.
  explicit NvmlSampler(const NvmlLibrary& library);

  // Devices that answer nothing are left out.
  std::vector<domain::ChipMetrics> sample();

 private:
  struct Target {
    int index = 0;
    nvml::Device handle = nullptr;
    std::vector<nvml::FieldValue> fields;  // to request
    bool prepared = false;                 // `fields` are those that it answers
  };

  void read_fields(Target& target, domain::ChipMetrics& out) const;
  void read_state(nvml::Device handle, domain::ChipMetrics& out) const;
  void read_memory(nvml::Device handle, domain::ChipMetrics& out) const;

  const NvmlFunctions& f_;
  std::vector<Target> targets_;
};

}  // namespace chipweave::agent
