// DeviceCatalog — the devices that DRA drivers offer, by the ResourceSlices that they publish, and
// which chips of a node they are.
//
// A driver writes a pool anew with a higher generation: slices of an older one do not count. Owner:
// the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/kube/watch.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::kube {

class DeviceCatalog {
 public:
  struct Device {
    std::string node;
    std::string uuid;  // empty: the driver does not say
    std::string pci;
    bool managed = false;  // no other allocator gives it away
  };

  void take(codec::KubeSlice slice);
  void drop(const std::string& slice);
  // Rises with every change.
  std::uint64_t version() const { return version_; }

  // Null: no slice of the pool's newest generation has it. Valid until the next change. O(slices of
  // the pool).
  const Device* find(const codec::ClaimedDevice& device) const;

 private:
  struct Slice {
    std::string driver;
    std::string pool;
    std::int64_t generation = 0;
    std::map<std::string, Device> devices;  // by name
  };
  using Pool = std::pair<std::string, std::string>;  // driver, pool

  std::map<std::string, Slice> slices_;          // by name
  std::map<Pool, std::set<std::string>> pools_;  // names of their slices
  std::uint64_t version_ = 0;
};

// The chip of its node that the device is: by the id that the driver of the chip gives, else by PCI
// address. nullopt: none, or several could be it.
std::optional<domain::ChipIndex> chip_of(const DeviceCatalog::Device& device,
                                         const domain::NodeTopology& topology);

// The vendor indices of these devices, ascending. nullopt: a device is not known, is on another node, or could be several chips or
// the same as another one.
std::optional<std::vector<int>> chips_of(const DeviceCatalog& catalog,
                                         const std::vector<codec::ClaimedDevice>& devices,
                                         const std::string& node,
                                         const domain::NodeTopology& topology);

}  // namespace chipweave::kube
