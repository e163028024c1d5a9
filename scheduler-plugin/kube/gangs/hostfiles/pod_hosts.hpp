// PodHosts — what pods with the annotation chipweave.dev/hostfile say: which ConfigMap they want,
// and under which name others reach them. Pods without the annotation cost nothing. Owner: the loop
// thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

inline constexpr const char* kHostfileAnnotation = "chipweave.dev/hostfile";

struct PodHost {
  std::string uid;
  std::string config_map;  // the annotation's value; cut off behind what a name may have
  std::string host;        // host_of()
  friend bool operator==(const PodHost&, const PodHost&) = default;
};

// The name that DNS has for the pod where it has a subdomain (a headless Service): as JobSet, the
// MPI Operator and Volcano's svc plugin set it, "HOSTNAME.SUBDOMAIN.NAMESPACE.svc". Else the pod's
// name, which kubectl exec takes.
std::string host_of(const codec::KubePod& pod);

class PodHosts {
 public:
  // A pod, new or changed.
  void seen(const codec::KubePod& pod);
  // key: "namespace/name"
  void gone(std::string_view key);
  // Null: it has no such annotation, or is not there.
  const PodHost* find(const PodKey& key, std::string_view uid) const;
  // uids of those that came or changed since the last call.
  std::set<std::string> take_changed();
  // As if all had changed.
  void all_changed();

 private:
  std::map<std::string, PodHost, std::less<>> pods_;  // by key
  std::set<std::string> changed_;                     // uids
};

}  // namespace chipweave::sched
