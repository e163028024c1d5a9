#include "node-agent/kubelet/pod_uids.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace chipweave::agent {
namespace {

// A device for a container of that name: resource, id, container.
using Use = std::tuple<std::string, std::string, std::string>;

}  // namespace

AllocatedDevices with_uids(AllocatedDevices listed, const codec::CheckpointedDevices& checkpoint) {
  std::map<Use, std::set<std::string>> uids;
  for (const codec::CheckpointedDevice& device : checkpoint)
    uids[{device.resource, device.id, device.container}].insert(device.pod_uid);
  for (AllocatedDevice& device : listed) {
    const auto of = uids.find({device.resource, device.id, device.container});
    // Several: of a pod that has ended and of the one after it.
    if (of == uids.end() || of->second.size() != 1) continue;
    device.pod_uid = *of->second.begin();
    uids.erase(of);
  }
  for (const auto& [use, owners] : uids) {
    const auto& [resource, id, container] = use;
    for (const std::string& uid : owners) listed.push_back({resource, id, "", "", container, uid});
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

}  // namespace chipweave::agent
