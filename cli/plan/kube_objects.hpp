// What `plan` reads from an API server: where nodes are, and how many accelerators each has left.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::cli {

struct KubeObjects {
  // A network description: a Kubernetes List of the Nodes (names and labels) and of Volcano's
  // HyperNodes, or without these of Kueue's Topologies.
  std::string description;
  struct Node {
    int offered = 0;  // accelerators
    int free = 0;     // those that no pod requests
    bool schedulable = true;
    bool cordoned = false;
    bool states_ready = false;  // it has the condition Ready
  };
  std::map<std::string, Node, std::less<>> nodes;
};

// kubeconfig, context: as for kubectl. resource: of the accelerators; empty: those of the vendors
// that chipweave knows. Errors name the file, or what the server answered.
Result<KubeObjects> read_kube_objects(const std::string& kubeconfig, const std::string& context,
                                      const std::string& resource);

// Items of lists as JSON, separated by commas.
struct KubeLists {
  std::string nodes;
  std::string pods;
  std::string hypernodes;
  std::string topologies;
};
// Pods count as for kube-scheduler; what is not a pod counts as nothing.
Result<KubeObjects> kube_objects_of(const KubeLists& lists, const std::string& resource);

}  // namespace chipweave::cli
