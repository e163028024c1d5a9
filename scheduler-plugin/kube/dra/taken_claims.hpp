// TakenClaims — claims of pods that something is about to allocate or to end, with the devices that
// are being written to them. Owner: the loop thread.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/kube/dra/claim_watch.hpp"

namespace chipweave::sched {

class TakenClaims {
 public:
  // False: the claim of that pod is taken.
  bool add(const std::string& pod_uid) { return devices_.try_emplace(pod_uid).second; }
  void remove(const std::string& pod_uid) {
    const auto at = devices_.find(pod_uid);
    if (at == devices_.end()) return;
    for (const std::string& device : at->second) owners_.erase(device);
    devices_.erase(at);
  }
  // Until remove(); once for each add(). False, and nothing is reserved: a taken claim of another
  // pod has one of them. O(devices log all devices).
  bool reserve(const std::string& pod_uid, const std::vector<codec::ClaimedDevice>& devices) {
    std::vector<std::string> names(devices.size());
    std::transform(devices.begin(), devices.end(), names.begin(), text_of);
    for (const std::string& name : names) {
      const auto owner = owners_.find(name);
      if (owner != owners_.end() && owner->second != pod_uid) return false;
    }
    for (const std::string& name : names) owners_[name] = pod_uid;
    devices_[pod_uid] = std::move(names);
    return true;
  }

 private:
  std::map<std::string, std::vector<std::string>> devices_;  // by uid of the pod
  std::map<std::string, std::string> owners_;                // uid of the pod, by device
};

}  // namespace chipweave::sched
