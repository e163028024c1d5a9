// Parts of SimulatedApi: the programs that use it, and its objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/transport.hpp"

namespace chipweave::sched::test {

// A program that can be paused and resumed.
struct SimulatedProcess {
  // Runs the task now, or when the process resumes.
  void run(std::function<void()> task);
  void resume();
  bool paused = false;
  bool cut_off = false;  // no request made through connect_at_once() is answered
  std::vector<std::function<void()>> held;
};

struct ServerPod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource;
  int chips = 0;
  int cores = 2;  // CPU that it requests
  std::string node;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  int priority = 0;
  bool ending = false;  // deleted, with its grace period running
  bool started = false;
  std::string gang = {};       // spec.schedulingGroup.podGroupName
  std::string nominated = {};  // status.nominatedNodeName
  std::string claim = {};      // status.extendedResourceClaimStatus.resourceClaimName
  // container and request of each of its requestMappings
  std::vector<std::pair<std::string, std::string>> mappings = {};
  // ResourceClaims that it names: in the pod, and the claim's.
  std::vector<std::pair<std::string, std::string>> claims = {};
  std::map<std::string, std::string> node_selector = {};
  std::vector<std::string> gates = {};  // names of spec.schedulingGates
  std::string pinned_to = {};           // by a required node affinity
  std::string rejection = {};  // message of the condition PodScheduled, which is then False
  std::uint64_t version = 0;

  std::string key() const { return ns + "/" + name; }
};

std::string pod_json(const ServerPod& pod);

// A ResourceClaim to which these devices (driver and pool) are allocated.
// The devices of a pool are gpu-0, gpu-1 …. pod: uid of the pod that the claim was made for because
// it requests an extended resource; empty: none.
std::string claim_json(const std::string& name,
                       const std::vector<std::pair<std::string, std::string>>& devices,
                       const std::string& pod, std::uint64_t version);
// Devices gpu-0, gpu-1 … of gpu.nvidia.com in the pool of the node, with these ids.
std::string slice_json(const std::string& node, const std::vector<std::string>& ids, bool managed,
                       std::uint64_t version);

kube::Reply status(int code, const std::string& message);

// The Leases of a namespace. An update must carry the current resourceVersion.
struct SimulatedLeases {
  std::map<std::string, std::string> all;  // name to JSON

  // A request for one Lease, or a POST to the namespace's.
  static bool mine(const kube::Call& call, const std::string& path);
  kube::Reply answer(const kube::Call& call, const std::string& path, std::uint64_t& version);
};

}  // namespace chipweave::sched::test
