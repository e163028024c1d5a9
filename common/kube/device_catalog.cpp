#include "common/kube/device_catalog.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace chipweave::kube {
namespace {

// "0000:3B:00.0" and "0000:3b:00.0" are one address.
bool same_address(const std::string& a, const std::string& b) {
  return !a.empty() && lower_case(a) == lower_case(b);
}

}  // namespace

std::optional<domain::ChipIndex> chip_of(const DeviceCatalog::Device& device,
                                         const domain::NodeTopology& topology) {
  std::optional<domain::ChipIndex> found;
  for (const domain::Chip& chip : topology.chips()) {
    const bool same = !device.uuid.empty() && !chip.id.empty() ? device.uuid == chip.id
                                                               : same_address(device.pci, chip.pci);
    if (!same) continue;
    if (found) return std::nullopt;
    found = chip.index;
  }
  return found;
}

void DeviceCatalog::take(codec::KubeSlice slice) {
  drop(slice.name);
  ++version_;
  Slice kept{std::move(slice.driver), std::move(slice.pool), slice.generation, {}};
  for (codec::SliceDevice& device : slice.devices) {
    kept.devices.insert_or_assign(
        std::move(device.name),
        Device{slice.node, std::move(device.uuid), std::move(device.pci), device.managed});
  }
  pools_[{kept.driver, kept.pool}].insert(slice.name);
  slices_.emplace(std::move(slice.name), std::move(kept));
}

void DeviceCatalog::drop(const std::string& slice) {
  const auto at = slices_.find(slice);
  if (at == slices_.end()) return;
  ++version_;
  const auto pool = pools_.find({at->second.driver, at->second.pool});
  pool->second.erase(slice);
  if (pool->second.empty()) pools_.erase(pool);
  slices_.erase(at);
}

const DeviceCatalog::Device* DeviceCatalog::find(const codec::ClaimedDevice& device) const {
  const auto pool = pools_.find({device.driver, device.pool});
  if (pool == pools_.end()) return nullptr;
  const Slice* newest = nullptr;
  const Device* found = nullptr;
  for (const std::string& name : pool->second) {
    const Slice& slice = slices_.at(name);
    if (newest != nullptr && slice.generation < newest->generation) continue;
    if (newest == nullptr || slice.generation > newest->generation) found = nullptr;
    newest = &slice;
    const auto at = slice.devices.find(device.device);
    if (at != slice.devices.end()) found = &at->second;
  }
  return found;
}

std::optional<std::vector<int>> chips_of(const DeviceCatalog& catalog,
                                         const std::vector<codec::ClaimedDevice>& devices,
                                         const std::string& node,
                                         const domain::NodeTopology& topology) {
  std::vector<int> out;
  for (const codec::ClaimedDevice& one : devices) {
    const DeviceCatalog::Device* device = catalog.find(one);
    if (device == nullptr || device->node != node) return std::nullopt;
    const auto chip = chip_of(*device, topology);
    if (!chip) return std::nullopt;
    out.push_back(chip->value);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return std::nullopt;
  return out;
}

}  // namespace chipweave::kube
