// ResourceSlice — one part of the pool of devices that a DRA driver offers on its node, as its
// driver writes it and finds it stored.
//
// Source: k8s.io/api/resource/v1. codec::KubeSlice is what others read of any driver's slices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/objects/stored_object.hpp"

namespace chipweave::codec {

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;      // NoSchedule, NoExecute
  std::string time_added;  // set by the API server; not compared
  friend bool operator==(const DeviceTaint& a, const DeviceTaint& b) {
    return a.key == b.key && a.value == b.value && a.effect == b.effect;
  }
};

using DeviceAttribute = std::variant<std::int64_t, bool, std::string>;
// The API server refuses longer strings.
inline constexpr std::size_t kMaxAttributeBytes = 64;

struct DriverDevice {
  std::string name;
  std::map<std::string, DeviceAttribute> attributes;  // names without a domain: of the driver's
  std::map<std::string, std::string> capacity;        // quantities in canonical form
  std::vector<DeviceTaint> taints;
  friend bool operator==(const DriverDevice&, const DriverDevice&) = default;
};

// Limits of Kubernetes for one slice: without taints, and with any.
inline constexpr std::size_t kMaxSliceDevices = 128;
inline constexpr std::size_t kMaxTaintedSliceDevices = 64;

struct ResourceSlice {
  std::string name;
  ObjectVersion version;  // empty: not stored
  std::string driver;
  std::string node;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slice_count = 0;  // of the pool
  std::vector<DriverDevice> devices;
  std::string owner_uid;  // of the Node; empty: none
  // Stored only: it has what this driver does not write, such as a selector of nodes.
  bool other_content = false;
};

// "", or a quantity of bytes as the API server writes it: "80Gi", "81559Mi", "1".
std::string bytes_quantity(std::uint64_t bytes);

// Owned by the Node of that name.
std::string write_resource_slice(const ResourceSlice& slice);
// A list of slices, of any drivers. Errors: invalid_argument, limit_exceeded.
Result<std::vector<ResourceSlice>> read_resource_slices(std::string_view body);
// One slice, as the API server answers a write.
Result<ResourceSlice> read_resource_slice(std::string_view body);

// What a driver must know of its own Node.
struct NodeFacts {
  std::string uid;
  std::map<std::string, std::int64_t> allocatable;  // extended resources that are whole numbers
};
Result<NodeFacts> read_node_facts(std::string_view body);

}  // namespace chipweave::codec
