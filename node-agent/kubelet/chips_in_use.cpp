#include "node-agent/kubelet/chips_in_use.hpp"

#include <optional>
#include <set>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/names/device_ids.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent {

namespace mc = codec::mindcluster;

namespace {
constexpr std::size_t kMaxNameBytes = 64;  // of a device or resource, in the log
}  // namespace

ChipsInUse chips_in_use(const domain::NodeTopology& topology, const AllocatedDevices& allocated) {
  ChipsInUse out;
  if (!domain::vendor_of(topology).in_mindcluster) return out;
  const mc::AscendNames names(topology);
  std::set<domain::ChipIndex> chips;
  for (const AllocatedDevice& device : allocated) {
    if (mc::device_kind(names.prefix(), device.resource) == mc::DeviceKind::other) continue;
    const auto number = mc::chip_of_device(names.prefix(), device.resource, device.id);
    const auto chip = number ? names.index_of(*number) : std::nullopt;
    if (chip) {
      chips.insert(*chip);
    } else if (out.unknown_devices.size() < kMaxUnknownDevices) {
      out.unknown_devices.push_back(with_dots(device.id, kMaxNameBytes) + " of " +
                                    with_dots(device.resource, kMaxNameBytes));
    }
  }
  out.chips.assign(chips.begin(), chips.end());
  return out;
}

}  // namespace chipweave::agent
