// Vendor — the differences between makers of accelerators in names and surrounding software. Code
// that treats one of them differently reads it here instead of comparing names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

enum class VendorId { unknown, nvidia, amd, ascend, metax };

struct Vendor {
  VendorId id = VendorId::unknown;
  std::string_view name;             // as NodeTopology::vendor has it: "nvidia"; "" for unknown
  std::string_view chip_word;        // what the vendor calls a chip: "GPU", "NPU"
  std::string_view resource_domain;  // before the names of its extended resources: "nvidia.com/"
  // The environment variable by which a process sees some devices only, in its order; "": none.
  std::string_view visible_devices;
  bool in_nccl_xml = false;     // NCCL's (or RCCL's) topology file has its devices
  bool in_mindcluster = false;  // MindCluster's components schedule its devices
};

// By name. A name that is not in the table gives a descriptor of VendorId::unknown.
const Vendor& vendor_of(std::string_view name);
const Vendor& vendor_of(const NodeTopology& topology);
const Vendor& vendor_of(VendorId id);

// The default extended resources that a machine's chips are counted as, the vendor's own first:
// nvidia.com/gpu, aliyun.com/gpu; amd.com/gpu; metax-tech.com/gpu; on Ascend by generation
// (huawei.com/Ascend910). Empty for an unknown vendor.
std::vector<std::string> usual_resources(const NodeTopology& topology);

// The extended resource that counts the devices of a DRA driver, each of which is a whole chip:
// "nvidia.com/gpu" for "gpu.nvidia.com"; "" for any other driver.
std::string_view resource_of_driver(std::string_view driver);
// Whether it is chipweave's own DRA driver: its devices are the chips of the node, of any vendor.
bool is_own_driver(std::string_view driver);
// Whether devices of the driver are chips that are counted as the resource.
bool drives(std::string_view driver, std::string_view resource);

// The extended resources that count whole chips, of all vendors.
const std::vector<std::string>& whole_chip_resources();

}  // namespace chipweave::domain
