// The content of an NCCL topology file: GPUs, NICs and their places in the PCI tree.
//
// Included by nccl_*.cpp only.
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/hardware/host_devices.hpp"
#include "common/codec/topology/xml/xml_document.hpp"

namespace chipweave::codec {

struct NcclGpu : HostGpu {          // index: the attribute dev
  pugi::xml_node element;           // <gpu>, or null if the file has only the PCI device
  std::optional<double> lane_gbps;  // by the file's sm, gcn; nullopt unknown
  double link_gts = 0;              // 0 unknown
  int link_width = 0;               // 0 unknown
};

struct NcclMachine : HostMachine<NcclGpu> {
  bool has_gpu_elements = false;
};

// Root element <system>, version 1 or 2.
Result<NcclMachine> read_nccl_machine(const XmlDocument& document);

}  // namespace chipweave::codec
