#include "node-agent/device_plugin/core/held.hpp"

#include <algorithm>

namespace chipweave::device_plugin {
namespace {

// The init containers of a running pod have ended.
bool shown_whole(const PodRecord& pod, const Listed& list) {
  const auto listed = std::find_if(list.pods.begin(), list.pods.end(),
                                   [&](const Listed::Pod& one) { return one.key == pod.key; });
  if (listed == list.pods.end()) return false;
  return std::all_of(pod.containers.begin(), pod.containers.end(), [&](const AskingContainer& c) {
    if (c.init) return pod.running;
    const Listed::Container* one = listed->container(c.name);
    return one != nullptr && !one->other_ids.empty();
  });
}

}  // namespace

ChipSet held_by_others(const Listed& list, const PodBook& others, const Devices& devices) {
  ChipSet out;
  for (const Listed::Pod& pod : list.pods) {
    for (const Listed::Container& container : pod.containers) {
      int foreign = 0;
      out |= devices.chips(container.other_ids, &foreign);
      if (foreign > 0) return devices.topology().all();
    }
  }
  for (const auto& entry : others.pods()) {
    const PodRecord& pod = entry.second;
    if (pod.over || pod.containers.empty() || shown_whole(pod, list)) continue;
    const auto decision = read_decision(pod, others.node(), others.resource(), devices);
    if (!decision) return devices.topology().all();
    out |= decision->chips;
  }
  return out;
}

}  // namespace chipweave::device_plugin
