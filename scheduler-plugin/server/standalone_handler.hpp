// StandaloneHandler — a minimal pod API in place of a Kubernetes API server.
#pragma once

#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/http/server.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"

namespace chipweave::sched {

class StandaloneHandler {
 public:
  // tables: gets the pods; null: none.
  StandaloneHandler(MemoryCluster& cluster, const Clock& clock, const ResourceTable& resources,
                    RankTables* tables)
      : cluster_(cluster), clock_(clock), resources_(resources), tables_(tables) {}

  // body: a Pod in JSON. Answers it with namespace and uid, status 201; 409 if the name exists.
  http::Response create(const std::string& body);
  // {"items":[Pod…]} by arrival.
  http::Response list() const;
  http::Response get(std::string_view rest) const;
  // What a kubelet reports of a bound pod, {"hostIP":"10.0.0.7","podIP":"10.244.1.5"}: for rank
  // tables, nothing else depends on it. Answers the pod. rest: "NAMESPACE/NAME/status".
  http::Response set_status(std::string_view rest, const std::string& body);
  // Deletes the pod, frees its chips and answers the deleted pod.
  http::Response remove(std::string_view rest);

 private:
  Result<std::string> document(const ClusterPod& pod) const;
  MemoryCluster& cluster_;
  const Clock& clock_;
  const ResourceTable& resources_;
  RankTables* tables_;
};

}  // namespace chipweave::sched
