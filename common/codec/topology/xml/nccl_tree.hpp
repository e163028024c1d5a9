// What an NCCL topology file says, before it is judged: GPUs, NICs and where they hang.
//
// Included by nccl_*.cpp only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/codec/topology/hardware/host_tree.hpp"
#include "common/codec/topology/xml/xml_document.hpp"

namespace chipweave::codec {

struct NcclGpu {
  int dev = 0;
  pugi::xml_node element;  // <gpu>, or null where the file has only the PCI device
  std::string bus_id;
  std::string vendor;               // "nvidia", "amd"
  std::string model;                // "" unknown
  std::optional<double> lane_gbps;  // by the file's sm, gcn; nullopt unknown
  int numa = -1;
  int tree_node = 0;
  double link_gts = 0;  // 0 unknown
  int link_width = 0;   // 0 unknown
};

struct NcclNic {
  std::string name;
  std::string bus_id;
  int numa = -1;
  double gbps = 0;
  int tree_node = 0;
};

struct NcclMachine {
  std::vector<NcclGpu> gpus;  // in the order of the file
  std::vector<NcclNic> nics;
  HostTree tree{0};
  bool intel = false;
  bool has_gpu_elements = false;
  Warnings warnings;
};

// Root element <system>, version 1 or 2.
Result<NcclMachine> read_nccl_machine(const XmlDocument& document);

}  // namespace chipweave::codec
