#include "node-agent/reporting/chip_users.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/names/device_ids.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;
using domain::ChipIndex;

constexpr std::size_t kMaxNameBytes = 64;  // of a device or resource, in the log
constexpr std::string_view kInstance = "MIG-";

struct Found {
  bool is_chip = false;           // the resource counts chips of this machine, or parts of them
  bool part = false;              // the device is a part of a chip
  std::optional<ChipIndex> chip;  // absent: the machine has no such chip
};

Found ascend_chip(const mc::AscendNames& names, const AllocatedDevice& device) {
  const mc::DeviceKind kind = mc::device_kind(names.prefix(), device.resource);
  if (kind == mc::DeviceKind::other) return {};
  const auto number = mc::chip_of_device(names.prefix(), device.resource, device.id);
  return {true, kind == mc::DeviceKind::slice, number ? names.index_of(*number) : std::nullopt};
}

// The GPU of a MIG instance, by the facts "mig.N.K", which contain the instance's id.
std::optional<ChipIndex> chip_of_instance(const NodeState& state, std::string_view id) {
  for (const auto& [name, value] : state.facts) {
    if (!name.starts_with("mig.") || value.find(id) == std::string::npos) continue;
    const auto parts = split(name, '.');
    const auto number = parts.size() == 3 ? parse_number<int>(parts[1]) : std::nullopt;
    if (number && state.topology.slot_of(ChipIndex{*number})) return ChipIndex{*number};
  }
  return std::nullopt;
}

// A time slice is "GPU-…::2".
bool is_time_slice(const std::string& id) { return id.find("::") != std::string::npos; }

std::optional<ChipIndex> named_chip(const NodeState& state, const AllocatedDevice& device) {
  const std::string_view id = std::string_view(device.id).substr(0, device.id.find("::"));
  if (id.empty()) return std::nullopt;
  if (id.starts_with(kInstance)) return chip_of_instance(state, id);
  for (const domain::Chip& chip : state.topology.chips()) {
    if (chip.id == id || chip.pci == id) return chip.index;
  }
  return std::nullopt;
}

// A vendor has other resources, too ("nvidia.com/…" of network operators): only those that the
// machine's chips are counted as, and parts of chips, must be chips.
Found gpu(const NodeState& state, const AllocatedDevice& device) {
  const std::string& resource = device.resource;
  const bool parts = resource.starts_with("nvidia.com/mig-") || resource == "nvidia.com/gpu.shared";
  const auto& whole = state.resources;
  if (!parts && std::find(whole.begin(), whole.end(), resource) == whole.end()) return {};
  return {true, parts || is_time_slice(device.id), named_chip(state, device)};
}

// The extended resource that the device is counted as.
std::string resource_of(const NodeState& state, const AllocatedDevice& device) {
  if (device.driver.empty()) return device.resource;
  if (!domain::is_own_driver(device.driver))
    return std::string(domain::resource_of_driver(device.driver));
  return state.resources.empty() ? std::string() : state.resources.front();
}

// Which chip a device is, for all devices of one machine.
class ChipFinder {
 public:
  ChipFinder(const NodeState& state, const kube::DeviceCatalog* slices)
      : state_(state), slices_(slices) {
    if (domain::vendor_of(state.topology).in_mindcluster) names_.emplace(state.topology);
  }
  Found of(const AllocatedDevice& device) const {
    if (!device.driver.empty()) return claimed(device);
    return names_ ? ascend_chip(*names_, device) : gpu(state_, device);
  }

 private:
  Found claimed(const AllocatedDevice& device) const {
    const bool ours = domain::is_own_driver(device.driver) ||
                      domain::resource_of_driver(device.driver)
                          .starts_with(domain::vendor_of(state_.topology).resource_domain);
    if (slices_ == nullptr || !ours) return {};
    const auto* offered = slices_->find({device.driver, device.pool, device.id});
    if (offered == nullptr) return {true, false, std::nullopt};
    if (offered->uuid.starts_with(kInstance))
      return {true, true, chip_of_instance(state_, offered->uuid)};
    return {true, false, kube::chip_of(*offered, state_.topology)};
  }

  const NodeState& state_;
  const kube::DeviceCatalog* slices_;
  std::optional<mc::AscendNames> names_;
};

}  // namespace

ChipUsers chip_users(const NodeState& state, const AllocatedDevices& allocated,
                     const kube::DeviceCatalog* slices) {
  ChipUsers out;
  const ChipFinder chips(state, slices);
  for (const AllocatedDevice& device : allocated) {
    const Found found = chips.of(device);
    if (!found.is_chip) continue;
    if (!found.chip) {
      if (out.unknown_devices.size() < kMaxUnknownDevices) {
        const std::string& of = device.driver.empty() ? device.resource : device.driver;
        out.unknown_devices.push_back(with_dots(device.id, kMaxNameBytes) + " of " +
                                      with_dots(of, kMaxNameBytes));
      }
      continue;
    }
    auto& users = out.chips[*found.chip];
    ChipUser user{device.ns, device.pod, device.container};
    const auto at = std::lower_bound(users.begin(), users.end(), user);
    if (at == users.end() || !(*at == user)) users.insert(at, std::move(user));
  }
  return out;
}

domain::GivenChips given_chips(const NodeState& state, const AllocatedDevices& allocated,
                               const kube::DeviceCatalog* slices) {
  using Container = domain::GivenChips::Container;
  std::map<Container, std::set<ChipIndex>> by_container;
  domain::GivenChips out;
  const ChipFinder chips(state, slices);
  for (const AllocatedDevice& device : allocated) {
    const Found found = chips.of(device);
    if (!found.is_chip) continue;
    if (!found.chip) {
      out.unknown_devices = std::min(out.unknown_devices + 1, domain::kMaxUnknownDevices);
      continue;
    }
    const std::string resource = resource_of(state, device);
    by_container
        [{device.pod_uid, device.ns, device.pod, device.container, resource, {}, found.part}]
            .insert(*found.chip);
  }
  for (const auto& [container, set] : by_container) {
    if (out.containers.size() == domain::kMaxGivenContainers) break;
    out.containers.push_back(container);
    out.containers.back().chips.assign(set.begin(), set.end());
  }
  return out;
}

std::vector<ChipIndex> chips_in_use(const ChipUsers& users) {
  std::vector<ChipIndex> out;
  for (const auto& [chip, containers] : users.chips) out.push_back(chip);
  return out;
}

}  // namespace chipweave::agent
