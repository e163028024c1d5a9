// DeviceCatalog — the devices that DRA drivers offer, by the ResourceSlices that they publish, and
// which chips of a node they are.
//
// A driver that rewrites a pool raises its generation: slices of an older one do not count. Owner:
// the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::kube {

class DeviceCatalog {
 public:
  struct Device {
    std::string node;
    std::string uuid;  // empty: the driver does not say
    std::string pci;
    // No other allocator gives it away. One that is not may be given to two pods.
    bool managed = false;
    codec::StringMap attributes{};  // by "domain/name"
  };

  void take(codec::KubeSlice slice);
  void drop(const std::string& slice);
  // Differs between any two moments at which other devices were offered on the node.
  std::uint64_t version_of(const std::string& node) const;

  // Null: no slice of the pool's newest generation has it. Valid until the next change. O(slices of
  // the pool).
  const Device* find(const codec::ClaimedDevice& device) const;
  // The devices of the node, of each pool's newest generation. O(devices of the node).
  void each_on(const std::string& node,
               const std::function<void(const codec::ClaimedDevice&, const Device&)>& visit) const;

 private:
  struct Slice {
    std::string driver;
    std::string pool;
    std::string node;
    std::int64_t generation = 0;
    std::map<std::string, Device> devices;  // by name
  };
  using Pool = std::pair<std::string, std::string>;  // driver, pool

  void changed(const Pool& pool);

  std::map<std::string, Slice> slices_;          // by name
  std::map<Pool, std::set<std::string>> pools_;  // names of their slices
  struct OfNode {
    std::set<std::string> slices;
    std::uint64_t version = 0;
  };
  std::map<std::string, OfNode> by_node_;
  std::uint64_t version_ = 0;
};

// The chip of its node that the device is: by the id that the driver of the chip gives, else by PCI
// address. nullopt: none, or several could be it.
std::optional<domain::ChipIndex> chip_of(const DeviceCatalog::Device& device,
                                         const domain::NodeTopology& topology);

// The vendor indices of these devices, ascending. nullopt: a device is not known, is on another
// node, or could be several chips or the same as another one.
std::optional<std::vector<int>> chips_of(const DeviceCatalog& catalog,
                                         const std::vector<codec::ClaimedDevice>& devices,
                                         const std::string& node,
                                         const domain::NodeTopology& topology);

// Why a chip of the node, which counts its chips as these resources, cannot be handed over, for
// each such chip by its vendor index: "no DRA driver offers it", or more than one device, also of a
// driver that is none for these resources, or one that is not `managed`.
std::map<int, std::string> not_handed_over(const DeviceCatalog& catalog, const std::string& node,
                                           const std::vector<std::string>& resources,
                                           const domain::NodeTopology& topology);

// The devices that are these chips of the node, in their order. Errors: conflict,
// the first answer of not_handed_over() about one of them.
Result<std::vector<codec::ClaimedDevice>> devices_of_chips(
    const DeviceCatalog& catalog, const std::string& node,
    const std::vector<std::string>& resources, const domain::NodeTopology& topology,
    const std::vector<int>& chips);

// The chips of the node that are devices which may be given away, by vendor index: `managed` ones,
// or with untainted_too any. A chip that several devices could be is left out. resource: of the
// drivers; empty: any. Errors: conflict, with words: there are none.
struct OfferedChip {
  codec::ClaimedDevice device;
  codec::StringMap attributes;
};
Result<std::map<int, OfferedChip>> offered_chips(const DeviceCatalog& catalog,
                                                 const std::string& node,
                                                 const std::string& resource,
                                                 const domain::NodeTopology& topology,
                                                 bool untainted_too);

}  // namespace chipweave::kube
