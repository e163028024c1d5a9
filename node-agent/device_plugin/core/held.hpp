// The chips that containers have under the other name of the same chips: on a node of ACK the
// kubelet counts them as nvidia.com/gpu and as aliyun.com/gpu, and keeps books of each. Pure.
#pragma once

#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

// `others`: the pods of the other resource. A pod that the list does not show with all its chips
// (the kubelet has just started, or the chips are those of an init container, which is never
// listed) has those of its decision; without one, or with devices that this machine does not have,
// it may have any.
ChipSet held_by_others(const Listed& list, const PodBook& others, const Devices& devices);

}  // namespace chipweave::device_plugin
