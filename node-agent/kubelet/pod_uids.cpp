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
// A device for the pods of a claim: driver, pool, device, namespace, claim.
using ClaimUse = std::tuple<std::string, std::string, std::string, std::string, std::string>;

struct ClaimUsers {
  std::set<std::string> uids;   // in the checkpoint
  std::set<std::string> names;  // listed
};

ClaimUse use_of(const AllocatedDevice& device) {
  return {device.driver, device.pool, device.id, device.ns, device.claim};
}

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

AllocatedDevices with_claims(AllocatedDevices listed,
                             const codec::KubeletClaimDevices& checkpoint) {
  std::map<ClaimUse, ClaimUsers> uses;
  for (const codec::KubeletClaimDevice& of : checkpoint)
    uses[{of.driver, of.pool, of.device, of.ns, of.claim}].uids.insert(of.pod_uid);
  std::erase_if(listed, [&uses](const AllocatedDevice& device) {
    if (device.driver.empty()) return false;
    const auto use = uses.find(use_of(device));
    if (use == uses.end()) return true;
    use->second.names.insert(device.pod);
    return false;
  });
  for (AllocatedDevice& device : listed) {
    if (device.driver.empty()) continue;
    // Several pods share a claim: which uid is whose is not said.
    const std::set<std::string>& uids = uses.at(use_of(device)).uids;
    if (uids.size() == 1) device.pod_uid = *uids.begin();
  }
  for (const auto& [use, users] : uses) {
    if (users.names.size() == users.uids.size()) continue;
    if (users.uids.size() == 1 && !users.names.empty()) continue;
    const auto& [driver, pool, device, ns, claim] = use;
    for (const std::string& uid : users.uids)
      listed.push_back({"", device, "", "", "", uid, driver, pool, claim});
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

}  // namespace chipweave::agent
