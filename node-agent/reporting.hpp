// Reporting — whom this agent tells of its node, as the flags say: a scheduler by gRPC, or the API
// server of a cluster, where people also ask things of it. What MindCluster is told of free chips
// is known by the kubelet of this node.
//
// Owner: the program; used and destroyed on the loop thread, or when the loop does not run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/kube/api_client.hpp"
#include "node-agent/app/health/faults.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/kubelet/pod_resources_client.hpp"
#include "node-agent/publish/kube/node_events.hpp"
#include "node-agent/publish/node/compat_publisher.hpp"
#include "node-agent/publish/reporter.hpp"

namespace chipweave::agent {

// What people ask for in the cluster.
struct Wishes {
  std::function<void(Cordon)> cordon;
  std::function<void(std::optional<domain::ChipIndex>)> clear_faults;  // absent: of all chips
};

// For metrics, only where the kubelet is asked.
struct KubeletEvents {
  std::function<void(bool)> answers;
  std::function<void(std::size_t)> in_use;  // how many chips pods have
};

class Reporting {
 public:
  // Errors: invalid_argument without a cluster around us; what is wrong with a file or address.
  static Result<std::unique_ptr<Reporting>> make(const Flags& flags, http::Loop& loop,
                                                 const Clock& clock, ReporterEvents events,
                                                 Wishes wishes, KubeletEvents kubelet);

  // As Reporter's; the first state starts it, and its faults are told as raised.
  void want(const NodeStatePtr& state, bool urgent);
  // From the first state on.
  void fault(const FaultChange& change);
  // nullopt without a cluster, where there are no events.
  std::optional<kube::EventSender::Stats> event_stats() const;
  void stop(std::function<void()> done);

 private:
  Result<void> use_scheduler(const Flags& flags, http::Loop& loop, ReporterEvents events);
  Result<void> use_cluster(const Flags& flags, http::Loop& loop, const Clock& clock,
                           ReporterEvents events, Wishes wishes);
  void use_kubelet(const std::string& socket, http::Loop& loop, KubeletEvents events);
  void tell_in_use();
  void speak();
  bool asks_kubelet() const;

  std::unique_ptr<kube::ApiClient> api_;  // outlives what uses it
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<CompatPublisher> compat_;
  std::unique_ptr<NodeEvents> events_;
  std::unique_ptr<PodResourcesClient> kubelet_;
  std::function<void(std::size_t)> count_in_use_;
  NodeStatePtr state_;                  // null: nothing was started yet
  std::optional<GivenDevices> given_;   // by the kubelet; absent: it has not said it yet
  std::vector<std::string> strangers_;  // that were told of last
  bool inventory_sent_ = false;
};

}  // namespace chipweave::agent
