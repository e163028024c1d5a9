#include "common/kube/device_catalog.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

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
  Slice kept{std::move(slice.driver), std::move(slice.pool), slice.node, slice.generation, {}};
  if (!slice.node.empty()) by_node_[slice.node].insert(slice.name);
  for (codec::SliceDevice& device : slice.devices) {
    Device known{slice.node, std::move(device.uuid), std::move(device.pci), device.managed};
    for (auto& [name, value] : device.attributes) {
      const bool whole = name.find('/') != std::string::npos;
      known.attributes[whole ? name : kept.driver + "/" + name] = std::move(value);
    }
    kept.devices.insert_or_assign(std::move(device.name), std::move(known));
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
  const auto node = by_node_.find(at->second.node);
  if (node != by_node_.end()) {
    node->second.erase(slice);
    if (node->second.empty()) by_node_.erase(node);
  }
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

void DeviceCatalog::each_on(
    const std::string& node,
    const std::function<void(const codec::ClaimedDevice&, const Device&)>& visit) const {
  const auto names = by_node_.find(node);
  if (names == by_node_.end()) return;
  for (const std::string& name : names->second) {
    const Slice& slice = slices_.at(name);
    for (const auto& [device, what] : slice.devices) {
      const codec::ClaimedDevice named{slice.driver, slice.pool, device};
      if (find(named) == &what) visit(named, what);
    }
  }
}

Result<std::vector<codec::ClaimedDevice>> devices_of_chips(const DeviceCatalog& catalog,
                                                           const std::string& node,
                                                           const std::string& resource,
                                                           const domain::NodeTopology& topology,
                                                           const std::vector<int>& chips) {
  const auto wrong = [&](int chip, const std::string& what) {
    return make_error(Errc::conflict,
                      "node " + node + ": chip " + std::to_string(chip) + " " + what);
  };
  struct Found {
    codec::ClaimedDevice device;
    bool managed = false;
  };
  std::map<int, Found> by_chip;
  std::optional<int> several;
  catalog.each_on(node, [&](const codec::ClaimedDevice& device, const DeviceCatalog::Device& what) {
    if (!domain::drives(device.driver, resource)) return;
    const auto chip = chip_of(what, topology);
    if (!chip || std::find(chips.begin(), chips.end(), chip->value) == chips.end()) return;
    if (!by_chip.emplace(chip->value, Found{device, what.managed}).second) several = chip->value;
  });
  if (several) return wrong(*several, "is offered by two devices of DRA drivers");
  std::vector<codec::ClaimedDevice> out;
  for (const int chip : chips) {
    const auto found = by_chip.find(chip);
    if (found == by_chip.end()) return wrong(chip, "is no device in a DRA driver's ResourceSlices");
    if (!found->second.managed) {
      return wrong(chip, "is device " + found->second.device.device + ", which lacks the taint " +
                             std::string(codec::kManagedTaint) +
                             ": kube-scheduler could give it to another claim");
    }
    out.push_back(found->second.device);
  }
  return out;
}

Result<std::map<int, OfferedChip>> offered_chips(const DeviceCatalog& catalog,
                                                 const std::string& node,
                                                 const std::string& resource,
                                                 const domain::NodeTopology& topology,
                                                 bool untainted_too) {
  std::map<int, OfferedChip> out;
  std::set<int> several;
  bool untainted = false;
  catalog.each_on(node, [&](const codec::ClaimedDevice& device, const DeviceCatalog::Device& what) {
    const bool fits = resource.empty() ? domain::is_own_driver(device.driver) ||
                                             !domain::resource_of_driver(device.driver).empty()
                                       : domain::drives(device.driver, resource);
    const auto chip = fits ? chip_of(what, topology) : std::nullopt;
    if (!chip) return;
    if (!what.managed && !untainted_too) {
      untainted = true;
    } else if (!out.emplace(chip->value, OfferedChip{device, what.attributes}).second) {
      several.insert(chip->value);
    }
  });
  for (const int chip : several) out.erase(chip);
  if (!out.empty()) return out;
  if (untainted) {
    return make_error(Errc::conflict, "the devices of the node lack the taint " +
                                          std::string(codec::kManagedTaint) +
                                          ": kube-scheduler could give them to other claims");
  }
  return make_error(Errc::conflict, several.empty()
                                        ? "no chip of the node is a device in ResourceSlices"
                                        : "each chip of the node is offered by two DRA drivers");
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
