// StandaloneHandler — a minimal pod API in place of a Kubernetes API server.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::sched {

class StandaloneHandler {
 public:
  StandaloneHandler(MemoryCluster& cluster, const ResourceTable& resources)
      : cluster_(cluster), resources_(resources) {}

  // body: a Pod in JSON. Answers it with namespace and uid, status 201; 409 if the name exists.
  http::Response create(const std::string& body);
  // {"items":[Pod…]} by arrival.
  http::Response list() const;
  http::Response get(std::string_view rest) const;
  // Deletes the pod, frees its chips and answers the deleted pod.
  http::Response remove(std::string_view rest);

 private:
  Result<std::string> document(const ClusterPod& pod) const;
  MemoryCluster& cluster_;
  const ResourceTable& resources_;
};

}  // namespace chipweave::sched
