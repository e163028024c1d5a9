// Which containers use which chips of this machine, from the devices that the kubelet has
// allocated. Pure.
//
// Each vendor's device plugin names devices in its own way: Ascend's by physical number, AMD's by
// PCI address, NVIDIA's and MetaX's by the id that the driver gives. What a DRA driver calls a
// device is in its ResourceSlices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/given_chips.hpp"
#include "common/domain/node_topology.hpp"
#include "common/kube/device_catalog.hpp"
#include "node-agent/app/chip_user.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/kubelet/allocated_device.hpp"

namespace chipweave::agent {

inline constexpr std::size_t kMaxUnknownDevices = 8;

struct ChipUsers {
  ChipOwners chips;
  // Devices that should be chips of this machine and are not, the first few: "Ascend910-77 of
  // huawei.com/Ascend910".
  std::vector<std::string> unknown_devices;
};

// A chip of which a part is allocated (a slice, a MIG instance, a time slice) is in use: it is no
// longer available as a whole. Resources that are not chips are ignored.
// slices: of DRA drivers; null: not known, so that devices of claims are left out.
ChipUsers chip_users(const NodeState& state, const AllocatedDevices& allocated,
                     const kube::DeviceCatalog* slices = nullptr);
// The same by container, also of pods of which only the uid is known.
domain::GivenChips given_chips(const NodeState& state, const AllocatedDevices& allocated,
                               const kube::DeviceCatalog* slices = nullptr);
// The chips alone, ascending.
std::vector<domain::ChipIndex> chips_in_use(const ChipUsers& users);

}  // namespace chipweave::agent
