#include "node-agent/dra/slices/slice_content.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/kube/watch.hpp"
#include "node-agent/dra/offered_devices.hpp"

namespace chipweave::agent::dra {
namespace {

using codec::DeviceTaint;
using codec::DriverDevice;
using codec::ResourceSlice;

constexpr const char* kNoSchedule = "NoSchedule";

void set_text(DriverDevice& device, const std::string& name, const std::string& value) {
  if (!value.empty() && value.size() <= codec::kMaxAttributeBytes) device.attributes[name] = value;
}

// The NIC with the closest path to the chip; of several the first.
const domain::Nic* rail_nic(const domain::NodeTopology& topology, int slot) {
  const domain::Nic* best = nullptr;
  for (const domain::Nic& nic : topology.nics()) {
    const auto path = [slot](const domain::Nic& of) {
      return of.paths.at(static_cast<std::size_t>(slot));
    };
    if (best == nullptr || path(nic) < path(*best)) best = &nic;
  }
  return best;
}

// The node's name, which is in front of the islands' numbers, may be too long for an attribute.
std::string island_name(const std::string& node, int number) {
  const std::string text = node + "-" + std::to_string(number);
  return text.size() <= codec::kMaxAttributeBytes ? text : std::to_string(number);
}

std::vector<DeviceTaint> taints_of(const OfferedDevice& device, const PoolOptions& options) {
  std::vector<DeviceTaint> out;
  if (options.managed) out.push_back({codec::kManagedTaint, "true", kNoSchedule, ""});
  if (!device.problem.empty())
    out.push_back({kUnhealthyTaint, "true", options.evict ? "NoExecute" : kNoSchedule, ""});
  if (device.network_unhealthy) out.push_back({kNetworkUnhealthyTaint, "true", kNoSchedule, ""});
  return out;
}

// NODE-DRIVER-K, shortened at the node's end, which then is no longer unique: its uid is.
std::string slice_name(const PoolOptions& options, const std::string& node_uid, std::size_t k) {
  const std::string end = "-" + options.driver + "-" + std::to_string(k);
  if (options.node.size() + end.size() <= limits::kMaxNameBytes) return options.node + end;
  return "node-" + node_uid + end;
}

bool any_taint(const std::vector<DriverDevice>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](const DriverDevice& each) { return !each.taints.empty(); });
}

bool same_devices(const ResourceSlice& stored, const ResourceSlice& wanted, bool ignore_taints) {
  return std::equal(stored.devices.begin(), stored.devices.end(), wanted.devices.begin(),
                    wanted.devices.end(), [&](const DriverDevice& a, const DriverDevice& b) {
                      return a.name == b.name && a.attributes == b.attributes &&
                             a.capacity == b.capacity && (ignore_taints || a.taints == b.taints);
                    });
}

bool is_as_wanted(const ResourceSlice& stored, const ResourceSlice& wanted, bool ignore_taints) {
  return !stored.other_content && stored.node == wanted.node && stored.pool == wanted.pool &&
         stored.slice_count == wanted.slice_count && stored.owner_uid == wanted.owner_uid &&
         same_devices(stored, wanted, ignore_taints);
}

const ResourceSlice* named(const std::vector<ResourceSlice>& slices, const std::string& name) {
  const auto found = std::find_if(slices.begin(), slices.end(),
                                  [&](const ResourceSlice& each) { return each.name == name; });
  return found == slices.end() ? nullptr : &*found;
}

std::int64_t generation_for(const std::vector<ResourceSlice>& stored,
                            const std::vector<ResourceSlice>& wanted, bool ignore_taints) {
  std::int64_t highest = 0;
  for (const ResourceSlice& each : stored) highest = std::max(highest, each.generation);
  if (highest == 0) return 1;
  for (const ResourceSlice& each : stored) {
    if (each.generation != highest) continue;
    const ResourceSlice* as = named(wanted, each.name);
    if (as == nullptr || !is_as_wanted(each, *as, ignore_taints)) return highest + 1;
  }
  return highest;
}

// A taint keeps the time since when it is there.
void keep_times(ResourceSlice& slice, const ResourceSlice& stored) {
  for (DriverDevice& device : slice.devices) {
    for (const DriverDevice& before : stored.devices) {
      if (before.name != device.name) continue;
      for (DeviceTaint& taint : device.taints) {
        const auto same = std::find(before.taints.begin(), before.taints.end(), taint);
        if (same != before.taints.end()) taint.time_added = same->time_added;
      }
    }
  }
}

}  // namespace

std::vector<DriverDevice> pool_devices(const NodeState& state, const PoolOptions& options,
                                       const HostDevices& host) {
  const std::string fabric = fabric_name(state.topology);
  const std::vector<int> islands = fabric_islands(state.topology);
  std::vector<DriverDevice> out;
  for (const OfferedDevice& offered : offered_devices(state)) {
    const domain::Chip& chip = state.topology.chip(offered.slot);
    DriverDevice device;
    device.name = offered.name;
    device.attributes["chip"] = std::int64_t{chip.index.value};
    set_text(device, "uuid", chip.id);
    set_text(device, "productName", chip.model);
    set_text(device, "chipweave.dev/machine", state.machine);
    set_text(device, "resource.kubernetes.io/pciBusID", chip.pci);
    set_text(device, "resource.kubernetes.io/pcieRoot", host.pcie_root(chip.pci));
    if (chip.numa >= 0) device.attributes["chipweave.dev/numa"] = std::int64_t{chip.numa};
    if (!fabric.empty()) {
      set_text(device, "chipweave.dev/" + fabric + "Island",
               island_name(options.node, islands[static_cast<std::size_t>(offered.slot)]));
    }
    if (const domain::Nic* nic = rail_nic(state.topology, offered.slot))
      set_text(device, "chipweave.dev/railNic", nic->name);
    const std::string memory = codec::bytes_quantity(chip.memory_bytes);
    if (!memory.empty()) device.capacity["memory"] = memory;
    device.taints = taints_of(offered, options);
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<ResourceSlice> slices_of(std::vector<DriverDevice> devices, const PoolOptions& options,
                                     const std::string& node_uid) {
  const std::size_t most =
      any_taint(devices) ? codec::kMaxTaintedSliceDevices : codec::kMaxSliceDevices;
  std::vector<ResourceSlice> out;
  for (std::size_t at = 0; at < devices.size(); at += most) {
    ResourceSlice slice;
    slice.name = slice_name(options, node_uid, out.size());
    slice.driver = options.driver;
    slice.node = options.node;
    slice.pool = options.node;
    slice.owner_uid = node_uid;
    const auto begin = devices.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        devices.begin() + static_cast<std::ptrdiff_t>(std::min(at + most, devices.size()));
    slice.devices.assign(std::make_move_iterator(begin), std::make_move_iterator(end));
    out.push_back(std::move(slice));
  }
  for (ResourceSlice& slice : out) slice.slice_count = static_cast<std::int64_t>(out.size());
  return out;
}

std::optional<SliceWrite> next_write(const std::vector<ResourceSlice>& stored,
                                     const std::vector<ResourceSlice>& wanted, bool ignore_taints) {
  const std::int64_t generation = generation_for(stored, wanted, ignore_taints);
  for (const ResourceSlice& each : wanted) {
    const ResourceSlice* there = named(stored, each.name);
    if (there != nullptr && there->generation == generation &&
        is_as_wanted(*there, each, ignore_taints))
      continue;
    SliceWrite out{there == nullptr ? SliceWrite::Kind::create : SliceWrite::Kind::update, each};
    out.slice.generation = generation;
    if (there != nullptr) {
      out.slice.version = there->version;
      keep_times(out.slice, *there);
    }
    return out;
  }
  for (const ResourceSlice& each : stored) {
    if (named(wanted, each.name) == nullptr) return SliceWrite{SliceWrite::Kind::remove, each};
  }
  return std::nullopt;
}

bool lacks_taints(const ResourceSlice& stored, const ResourceSlice& written) {
  return any_taint(written.devices) && !any_taint(stored.devices) &&
         same_devices(stored, written, true);
}

}  // namespace chipweave::agent::dra
