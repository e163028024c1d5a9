#include "common/domain/vendor.hpp"

#include <algorithm>
#include <array>

#include "common/domain/ascend_family.hpp"

namespace chipweave::domain {
namespace {

// In the order of VendorId.
constexpr std::array<Vendor, 5> kVendors = {{
    {VendorId::unknown, "", "GPU", "", "", false, false},
    {VendorId::nvidia, "nvidia", "GPU", "nvidia.com/", "CUDA_VISIBLE_DEVICES", true, false},
    {VendorId::amd, "amd", "GPU", "amd.com/", "ROCR_VISIBLE_DEVICES", true, false},
    {VendorId::ascend, "ascend", "NPU", "huawei.com/", "ASCEND_RT_VISIBLE_DEVICES", false, true},
    {VendorId::metax, "metax", "GPU", "metax-tech.com/", "MACA_VISIBLE_DEVICES", false, false},
}};

}  // namespace

const Vendor& vendor_of(std::string_view name) {
  const auto* const found = std::find_if(kVendors.begin(), kVendors.end(),
                                         [&](const Vendor& each) { return each.name == name; });
  return found == kVendors.end() ? kVendors.front() : *found;
}

const Vendor& vendor_of(const NodeTopology& topology) { return vendor_of(topology.vendor()); }

const Vendor& vendor_of(VendorId id) { return kVendors[static_cast<std::size_t>(id)]; }

std::vector<std::string> usual_resources(const NodeTopology& topology) {
  const Vendor& vendor = vendor_of(topology);
  const std::string domain(vendor.resource_domain);
  switch (vendor.id) {
    case VendorId::unknown:
      return {};
    case VendorId::nvidia:
      return {domain + "gpu", "aliyun.com/gpu"};
    case VendorId::amd:
    case VendorId::metax:
      return {domain + "gpu"};
    case VendorId::ascend:
      break;
  }
  const std::string_view family = ascend_prefix(ascend_family_of(topology));
  if (family == "Ascend910") return {domain + "Ascend910", domain + "ascend-1980"};
  return {domain + std::string(family)};
}

std::string_view resource_of_driver(std::string_view driver) {
  if (driver == "gpu.nvidia.com") return "nvidia.com/gpu";
  if (driver == "gpu.amd.com") return "amd.com/gpu";
  return "";
}

bool is_own_driver(std::string_view driver) { return driver.ends_with(".chipweave.dev"); }

bool drives(std::string_view driver, std::string_view resource) {
  return is_own_driver(driver) || resource_of_driver(driver) == resource;
}

const std::vector<std::string>& whole_chip_resources() {
  static const std::vector<std::string> kNames = {
      "nvidia.com/gpu",        "amd.com/gpu",          "metax-tech.com/gpu",
      "aliyun.com/gpu",        "huawei.com/Ascend910", "huawei.com/Ascend310",
      "huawei.com/Ascend310P", "huawei.com/npu",       "huawei.com/ascend-1980"};
  return kNames;
}

}  // namespace chipweave::domain
