#include "common/kube/device_catalog.hpp"

#include <algorithm>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::kube {
namespace {

// "0000:3B:00.0" and "0000:3b:00.0" are one address.
bool same_address(const std::string& a, const std::string& b) {
  return !a.empty() && lower_case(a) == lower_case(b);
}

// A chip as a device of drivers.
struct Offered {
  codec::ClaimedDevice device;
  const DeviceCatalog::Device* what = nullptr;  // in the catalog; null: only others offer it
  bool twice = false;                           // as another device, too
  std::string other;                            // a driver that does not fit, but offers it
};

// By vendor index. fits: of the driver. A claim could get the chip from one that does not, too.
std::map<int, Offered> offered_on(const DeviceCatalog& catalog, const std::string& node,
                                  const domain::NodeTopology& topology,
                                  const std::function<bool(const std::string&)>& fits) {
  std::map<int, Offered> out;
  catalog.each_on(node, [&](const codec::ClaimedDevice& device, const DeviceCatalog::Device& what) {
    const auto chip = chip_of(what, topology);
    if (!chip) return;
    Offered& one = out[chip->value];
    if (!fits(device.driver)) {
      one.other = device.driver;
    } else if (one.what != nullptr) {
      one.twice = true;
    } else {
      one.device = device;
      one.what = &what;
    }
  });
  return out;
}

std::map<int, Offered> offered_on(const DeviceCatalog& catalog, const std::string& node,
                                  const domain::NodeTopology& topology,
                                  const std::vector<std::string>& resources) {
  return offered_on(catalog, node, topology, [&](const std::string& driver) {
    return std::any_of(resources.begin(), resources.end(), [&](const std::string& resource) {
      return domain::drives(driver, resource);
    });
  });
}

// Empty: it can be handed over.
std::string problem_of(const Offered* chip) {
  if (chip == nullptr || chip->what == nullptr)
    return "no DRA driver offers it in its ResourceSlices";
  if (!chip->other.empty()) return "the DRA driver " + in_quotes(chip->other) + " offers it, too";
  if (chip->twice) return "DRA drivers offer it as two devices";
  if (chip->what->managed) return {};
  return "its device " + chip->device.device + " lacks the taint " +
         std::string(codec::kManagedTaint) + ": kube-scheduler could give it to another claim";
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
  Slice kept{std::move(slice.driver), std::move(slice.pool), slice.node, slice.generation, {}};
  if (!slice.node.empty()) {
    by_node_[slice.node].slices.insert(slice.name);
  }
  for (codec::SliceDevice& device : slice.devices) {
    Device known{slice.node, std::move(device.uuid), std::move(device.pci), device.managed};
    for (auto& [name, value] : device.attributes) {
      const bool whole = name.find('/') != std::string::npos;
      known.attributes[whole ? name : kept.driver + "/" + name] = std::move(value);
    }
    kept.devices.insert_or_assign(std::move(device.name), std::move(known));
  }
  const Pool pool{kept.driver, kept.pool};
  pools_[pool].insert(slice.name);
  slices_.emplace(std::move(slice.name), std::move(kept));
  changed(pool);
}

void DeviceCatalog::drop(const std::string& slice) {
  const auto at = slices_.find(slice);
  if (at == slices_.end()) return;
  changed({at->second.driver, at->second.pool});
  const auto pool = pools_.find({at->second.driver, at->second.pool});
  pool->second.erase(slice);
  if (pool->second.empty()) pools_.erase(pool);
  const auto node = by_node_.find(at->second.node);
  if (node != by_node_.end()) {
    node->second.slices.erase(slice);
    if (node->second.slices.empty()) by_node_.erase(node);
  }
  slices_.erase(at);
}

// A slice of a newer generation also outdates those of other nodes.
void DeviceCatalog::changed(const Pool& pool) {
  ++version_;
  for (const std::string& name : pools_.at(pool)) {
    const auto node = by_node_.find(slices_.at(name).node);
    if (node != by_node_.end()) node->second.version = version_;
  }
}

std::uint64_t DeviceCatalog::version_of(const std::string& node) const {
  const auto at = by_node_.find(node);
  return at == by_node_.end() ? 0 : at->second.version;
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
  for (const std::string& name : names->second.slices) {
    const Slice& slice = slices_.at(name);
    for (const auto& [device, what] : slice.devices) {
      const codec::ClaimedDevice named{slice.driver, slice.pool, device};
      if (find(named) == &what) visit(named, what);
    }
  }
}

std::map<int, std::string> not_handed_over(const DeviceCatalog& catalog, const std::string& node,
                                           const std::vector<std::string>& resources,
                                           const domain::NodeTopology& topology) {
  const std::map<int, Offered> offered = offered_on(catalog, node, topology, resources);
  std::map<int, std::string> out;
  for (const domain::Chip& chip : topology.chips()) {
    const auto found = offered.find(chip.index.value);
    std::string why = problem_of(found == offered.end() ? nullptr : &found->second);
    if (!why.empty()) out.emplace(chip.index.value, std::move(why));
  }
  return out;
}

Result<std::vector<codec::ClaimedDevice>> devices_of_chips(
    const DeviceCatalog& catalog, const std::string& node,
    const std::vector<std::string>& resources, const domain::NodeTopology& topology,
    const std::vector<int>& chips) {
  const std::map<int, Offered> offered = offered_on(catalog, node, topology, resources);
  std::vector<codec::ClaimedDevice> out;
  for (const int chip : chips) {
    const auto found = offered.find(chip);
    const std::string why = problem_of(found == offered.end() ? nullptr : &found->second);
    if (!why.empty()) {
      return make_error(Errc::conflict,
                        "node " + node + ": chip " + std::to_string(chip) + ": " + why);
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
  bool twice = false;
  bool untainted = false;
  const auto offered = offered_on(catalog, node, topology, [&](const std::string& driver) {
    return resource.empty()
               ? domain::is_own_driver(driver) || !domain::resource_of_driver(driver).empty()
               : domain::drives(driver, resource);
  });
  for (const auto& [chip, one] : offered) {
    if (one.what == nullptr) continue;
    if (one.twice || !one.other.empty()) {
      twice = true;
    } else if (!one.what->managed && !untainted_too) {
      untainted = true;
    } else {
      out.emplace(chip, OfferedChip{one.device, one.what->attributes});
    }
  }
  if (!out.empty()) return out;
  if (untainted) {
    return make_error(Errc::conflict, "the devices of the node lack the taint " +
                                          std::string(codec::kManagedTaint) +
                                          ": kube-scheduler could give them to other claims");
  }
  return make_error(Errc::conflict, twice ? "DRA drivers offer each chip of the node as two devices"
                                          : "no chip of the node is a device in ResourceSlices");
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
