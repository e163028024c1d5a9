// StandaloneHandler — what a Kubernetes API server would do for pods, for programs that run without
// one.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.hpp"
#include "scheduler-plugin/kube/pod_ask.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::sched {

class StandaloneHandler {
 public:
  StandaloneHandler(MemoryCluster& cluster, const ResourceTable& resources)
      : cluster_(cluster), resources_(resources) {}

  // A Pod in JSON; answers it with namespace and uid, status 201. 409 if the name exists.
  http::Response create(const std::string& body);
  // {"items":[Pod…]} by arrival.
  http::Response list() const;
  http::Response get(std::string_view rest) const;
  // Answers the pod as it was; its chips are free.
  http::Response remove(std::string_view rest);

 private:
  Result<std::string> document(const ClusterPod& pod) const;
  MemoryCluster& cluster_;
  const ResourceTable& resources_;
};

}  // namespace chipweave::sched
