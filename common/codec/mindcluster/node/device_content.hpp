// What MindCluster's device info holds about one machine: the chips that may be allocated, the
// broken ones, the faults, and the machine's place in a super pod.
//
// Pure: the machine in, values out. The caller passes the chips in use (the agent learns them from
// the kubelet, the scheduler from its ledger). Only for machines of vendor "ascend".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/domain/chip_set.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec::mindcluster {

struct SuperPodPlace {
  std::int32_t super_pod = kIdUnsupported;
  std::int32_t server = kIdUnsupported;
};
SuperPodPlace super_pod_place_of(const domain::NodeTopology& topology);

// The probe's fact with the number of the machine's rack.
inline constexpr const char* kRackFact = "ascend.rack";
// For A5, from the probe's fact; nullopt: unknown, or not a number.
std::optional<std::int32_t> rack_of(const domain::NodeTopology& topology, std::string_view fact);

// The current health of a machine's chips, by slot; the health in the topology is ignored.
struct ChipStates {
  domain::ChipSet unhealthy;
  domain::ChipSet network_unhealthy;
  domain::ChipSet in_use;
};
// update_time is left at 0, rack_id absent.
DeviceInfo device_info_of(const domain::NodeTopology& topology, const ChipStates& states,
                          const std::vector<domain::Fault>& faults);

}  // namespace chipweave::codec::mindcluster
