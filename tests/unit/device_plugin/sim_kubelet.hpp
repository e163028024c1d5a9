// SimKubelet — the choice of devices of a kubelet's device manager (cm/devicemanager/manager.go),
// in memory: init containers' devices first, then what the plugin prefers, then any others.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/device_plugin/core/desk.hpp"

namespace chipweave::device_plugin::test {

inline const std::string kGpu = "nvidia.com/gpu";
inline const std::string kNode = "n1";

struct PodContainer {
  std::string name;
  int count = 0;
  bool init = false;
  bool sidecar = false;
};

struct PodSpec {
  std::string name;
  std::string uid;
  std::vector<PodContainer> containers;  // in the order of their start
  std::string key() const { return "default/" + name; }
  int total() const;
};

inline int PodSpec::total() const {
  int sum = 0;
  int most = 0;
  for (const PodContainer& one : containers) {
    if (one.init) {
      most = std::max(most, sum + one.count);
    } else {
      sum += one.count;
    }
  }
  return std::max(sum, most);
}

// parts: by container; "": the pod's only one.
inline std::string note_of(const PodSpec& pod, const std::map<std::string, std::vector<int>>& parts,
                           const std::string& node = kNode) {
  std::string chips;
  for (const auto& [container, indices] : parts) {
    for (const int index : indices) {
      if (!chips.empty()) chips += ",";
      chips += "{\"index\":" + std::to_string(index) + ",\"id\":\"\"";
      if (!container.empty()) chips += ",\"container\":\"" + container + "\"";
      chips += "}";
    }
  }
  return R"({"v":1,"node":")" + node + R"(","podUid":")" + pod.uid + R"(","resource":")" + kGpu +
         R"(","chips":[)" + chips + R"(],"gbps":40.0,"decision":"d-000001"})";
}

inline codec::KubePod kube_pod(const PodSpec& pod, const std::string& placement,
                               const std::string& phase = "Pending") {
  codec::KubePod out;
  out.ns = "default";
  out.name = pod.name;
  out.uid = pod.uid;
  out.node_name = kNode;
  out.phase = phase;
  if (!placement.empty()) out.annotations[kPlacementAnnotation] = placement;
  for (const PodContainer& one : pod.containers) {
    codec::KubeContainer container;
    container.name = one.name;
    container.sidecar = one.sidecar;
    if (one.count > 0) container.limits[kGpu] = std::to_string(one.count);
    (one.init || one.sidecar ? out.init_containers : out.containers).push_back(container);
  }
  return out;
}

class SimKubelet {
 public:
  using Answer = std::function<Result<std::vector<std::string>>(const AskedPreference&)>;

  explicit SimKubelet(int devices) {
    for (int i = 0; i < devices; ++i) devices_.insert(std::to_string(i));
  }

  // Admits a pod; false: it fails, and is listed no more.
  bool admit(const PodSpec& pod, const Answer& answer) {
    pods_.push_back(pod);
    std::set<std::string> reusable;
    for (const PodContainer& container : pod.containers) {
      if (container.count == 0) continue;
      const auto got = choose(container.count, reusable, answer);
      if (!got) {
        remove(pod.uid);
        return false;
      }
      given_[pod.uid][container.name] = *got;
      for (const std::string& id : *got)
        container.init ? (void)reusable.insert(id) : (void)reusable.erase(id);
    }
    return true;
  }

  void remove(const std::string& uid) {
    std::erase_if(pods_, [&](const PodSpec& pod) { return pod.uid == uid; });
    given_.erase(uid);
  }

  Listed list() const {
    Listed out;
    for (const PodSpec& pod : pods_) {
      auto& listed = out.pods.emplace_back();
      listed.key = pod.key();
      for (const PodContainer& container : pod.containers) {
        if (container.init) continue;
        auto& one = listed.containers.emplace_back();
        one.name = container.name;
        const auto of = given_.find(pod.uid);
        if (of == given_.end()) continue;
        const auto got = of->second.find(container.name);
        if (got != of->second.end()) one.ids.assign(got->second.begin(), got->second.end());
      }
    }
    return out;
  }

  std::vector<std::string> of(const std::string& uid, const std::string& container) const {
    const auto pod = given_.find(uid);
    if (pod == given_.end() || !pod->second.contains(container)) return {};
    const auto& ids = pod->second.at(container);
    return {ids.begin(), ids.end()};
  }
  std::set<std::string> available() const {
    std::set<std::string> out = devices_;
    for (const auto& [uid, containers] : given_) {
      for (const auto& [name, ids] : containers) {
        for (const std::string& id : ids) out.erase(id);
      }
    }
    return out;
  }
  // Gives devices behind the plugin's back.
  void give(const PodSpec& pod, const std::string& container, std::set<std::string> ids) {
    if (!given_.contains(pod.uid)) pods_.push_back(pod);
    given_[pod.uid][container] = std::move(ids);
  }
  void show(const PodSpec& pod) { pods_.push_back(pod); }

 private:
  std::optional<std::set<std::string>> choose(int needed, const std::set<std::string>& reusable,
                                              const Answer& answer) {
    std::set<std::string> out;
    for (const std::string& id : reusable) {
      if (static_cast<int>(out.size()) == needed) break;
      out.insert(id);
    }
    if (static_cast<int>(out.size()) == needed) return out;
    const std::set<std::string> free = available();
    if (static_cast<int>(free.size() + out.size()) < needed) return std::nullopt;
    AskedPreference asked;
    asked.available.assign(free.begin(), free.end());
    asked.available.insert(asked.available.end(), out.begin(), out.end());
    asked.must_include.assign(out.begin(), out.end());
    asked.size = needed;
    const auto preferred = answer(asked);
    if (!preferred) return std::nullopt;
    const auto take = [&](const auto& from) {
      for (const std::string& id : from) {
        if (static_cast<int>(out.size()) < needed && free.contains(id)) out.insert(id);
      }
    };
    take(*preferred);
    take(free);
    return out;
  }

  std::set<std::string> devices_;
  std::vector<PodSpec> pods_;
  std::map<std::string, std::map<std::string, std::set<std::string>>> given_;  // by uid, container
};

}  // namespace chipweave::device_plugin::test
