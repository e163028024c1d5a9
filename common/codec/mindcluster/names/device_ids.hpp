// Devices as MindCluster's device plugin hands them to the kubelet: whole chips, and slices of them
// (vNPUs), each named by the number of its chip.
#pragma once

#include <optional>
#include <string_view>

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kResourceDomain = "huawei.com/";

enum class DeviceKind { chip, slice, other };

// What the devices of a resource are on a machine whose chips are called by `prefix` ("Ascend910"):
// "huawei.com/Ascend910" counts chips, "huawei.com/Ascend910-2c" and
// "huawei.com/Ascend310P-4c.3cpu" slices by template. Others do not identify chips:
// huawei.com/npu-core counts cores, and a core's id does not name its chip.
DeviceKind device_kind(std::string_view prefix, std::string_view resource);

// The number of the chip that a device of such a resource is, or is a slice of: "Ascend910-3" is 3,
// "Ascend910-2c-100-1" (template, number of the slice, number of the chip) is 1. nullopt: no name
// of that form, or the resource is of another kind.
std::optional<int> chip_of_device(std::string_view prefix, std::string_view resource,
                                  std::string_view id);

}  // namespace chipweave::codec::mindcluster
