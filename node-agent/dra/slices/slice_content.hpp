// The pool of this node as ResourceSlices: what they should be, and the next request that brings
// the stored ones there. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/kube/dra/resource_slice.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent::dra {

// Taints of this driver. kManaged is codec::kManagedTaint.
inline constexpr const char* kUnhealthyTaint = "chipweave.dev/unhealthy";
inline constexpr const char* kNetworkUnhealthyTaint = "chipweave.dev/network-unhealthy";

struct PoolOptions {
  std::string driver;
  std::string node;  // also the pool's name
  // Only chipweave-scheduler gives the devices away: all have the taint codec::kManagedTaint.
  bool managed = false;
  // Chips that become unhealthy evict the pods that have them (NoExecute), instead of getting no
  // new ones (NoSchedule).
  bool evict = false;
};

// All devices of the machine, without names of slices, versions and generations.
std::vector<codec::DriverDevice> pool_devices(const NodeState& state, const PoolOptions& options,
                                              const HostDevices& host);

// The slices of a pool: devices in order, names that are the same for each run. No devices: no
// slices.
std::vector<codec::ResourceSlice> slices_of(std::vector<codec::DriverDevice> devices,
                                            const PoolOptions& options,
                                            const std::string& node_uid);

struct SliceWrite {
  enum class Kind { create, update, remove };
  Kind kind = Kind::create;
  codec::ResourceSlice slice;
};

// nullopt: the stored slices of the driver are those that are wanted. After each write the slices
// are read again. An attempt that ends at any moment is taken up by the next one: slices of the
// highest generation that are as wanted count, and if any of that generation is not, the pool gets
// a new one. ignore_taints: the API server does not store them.
std::optional<SliceWrite> next_write(const std::vector<codec::ResourceSlice>& stored,
                                     const std::vector<codec::ResourceSlice>& wanted,
                                     bool ignore_taints);

// Whether the answer to a write has all of it but the taints.
bool lacks_taints(const codec::ResourceSlice& stored, const codec::ResourceSlice& written);

}  // namespace chipweave::agent::dra
