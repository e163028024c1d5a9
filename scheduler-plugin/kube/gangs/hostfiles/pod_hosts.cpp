#include "scheduler-plugin/kube/gangs/hostfiles/pod_hosts.hpp"

#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::sched {

std::string host_of(const codec::KubePod& pod) {
  if (pod.subdomain.empty()) return pod.name;
  return (pod.hostname.empty() ? pod.name : pod.hostname) + "." + pod.subdomain + "." + pod.ns +
         ".svc";
}

void PodHosts::seen(const codec::KubePod& pod) {
  const auto wanted = pod.annotations.find(kHostfileAnnotation);
  const std::string key = pod.ns + "/" + pod.name;
  if (wanted == pod.annotations.end()) return gone(key);
  PodHost host{pod.uid, wanted->second.substr(0, limits::kMaxNameBytes + 1), host_of(pod)};
  PodHost& known = pods_[key];
  if (known == host) return;
  changed_.insert(pod.uid);
  known = std::move(host);
}

void PodHosts::gone(std::string_view key) {
  const auto at = pods_.find(key);
  if (at != pods_.end()) pods_.erase(at);
}

const PodHost* PodHosts::find(const PodKey& key, std::string_view uid) const {
  const auto at = pods_.find(key.text());
  return at != pods_.end() && at->second.uid == uid ? &at->second : nullptr;
}

std::set<std::string> PodHosts::take_changed() { return std::exchange(changed_, {}); }

void PodHosts::all_changed() {
  for (const auto& [key, pod] : pods_) changed_.insert(pod.uid);
}

}  // namespace chipweave::sched
