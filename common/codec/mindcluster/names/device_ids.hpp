// Device ids as MindCluster's device plugin registers them with the kubelet: whole chips, and
// slices of them (vNPUs), each with the number of its chip.
#pragma once

#include <optional>
#include <string_view>

namespace chipweave::codec::mindcluster {

inline constexpr std::string_view kResourceDomain = "huawei.com/";

enum class DeviceKind { chip, slice, other };

// The kind of a resource's devices on a machine whose chip names have the prefix `prefix`
// ("Ascend910"): "huawei.com/Ascend910" counts chips, "huawei.com/Ascend910-2c" and
// "huawei.com/Ascend310P-4c.3cpu" slices by template. Others do not identify chips:
// huawei.com/npu-core counts cores, and a core's id does not name its chip.
DeviceKind device_kind(std::string_view prefix, std::string_view resource);

// The number of the chip of such a device or slice: 3 for "Ascend910-3", 1 for "Ascend910-2c-100-1"
// (template, number of the slice, number of the chip). nullopt: a name of another form, or another
// resource.
std::optional<int> chip_of_device(std::string_view prefix, std::string_view resource,
                                  std::string_view id);

}  // namespace chipweave::codec::mindcluster
