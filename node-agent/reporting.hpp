// Reporting — where this agent reports its node, as the flags say: to a scheduler by gRPC, or to
// the API server of a cluster, where operators also leave commands for it. For MindCluster's list
// of free chips it reads from the kubelet which chips pods use.
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
#include "node-agent/app/health/operator_faults.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/kubelet/pod_resources_client.hpp"
#include "node-agent/publish/kube/node_events.hpp"
#include "node-agent/publish/node/compat_publisher.hpp"
#include "node-agent/publish/node/kubelet_version_reader.hpp"
#include "node-agent/publish/reporter.hpp"
#include "node-agent/sources/file_watch.hpp"

namespace chipweave::agent {

// Commands of operators in the cluster.
struct OperatorCommands {
  std::function<void(Cordon)> cordon;
  std::function<void(std::optional<domain::ChipIndex>)> clear_faults;  // absent: of all chips
};

// For metrics; called only where the kubelet is to be asked.
struct KubeletEvents {
  std::function<void(bool)> supported;  // whether its version may be asked
  std::function<void(bool)> answers;
  std::function<void(std::size_t)> in_use;  // number of chips
};

class Reporting {
 public:
  // Errors: invalid_argument if not running in a pod; an unusable file or address.
  static Result<std::unique_ptr<Reporting>> make(const Flags& flags, http::Loop& loop,
                                                 const Clock& clock, ReporterEvents events,
                                                 OperatorCommands commands, KubeletEvents kubelet);

  // As Reporter's; the first state starts the reports, with its faults as raised.
  void want(const NodeStatePtr& state, bool urgent);
  // Ignored before the first state.
  void fault(const FaultChange& change);
  // nullopt without a cluster, where there are no events.
  std::optional<kube::EventSender::Stats> event_stats() const;
  void stop(std::function<void()> done);

 private:
  Result<void> use_scheduler(const Flags& flags, http::Loop& loop, ReporterEvents events);
  Result<void> use_cluster(const Flags& flags, http::Loop& loop, const Clock& clock,
                           ReporterEvents events, OperatorCommands commands);
  void use_kubelet(const Flags& flags, http::Loop& loop, KubeletEvents events);
  void kubelet_version_known(bool usable);
  void publish_in_use();
  void publish_config_maps();
  bool asks_kubelet() const;

  std::unique_ptr<kube::ApiClient> api_;  // outlives what uses it
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<CompatPublisher> compat_;
  std::unique_ptr<NodeEvents> events_;
  std::unique_ptr<PodResourcesClient> kubelet_;
  std::unique_ptr<FileWatch> allocations_;
  std::unique_ptr<KubeletVersionReader> kubelet_version_;
  std::optional<bool> kubelet_usable_;  // absent: its version is not known yet
  std::function<void(bool)> show_kubelet_supported_;
  std::function<void(std::size_t)> count_in_use_;
  NodeStatePtr state_;                         // null: not started yet
  std::optional<AllocatedDevices> allocated_;  // as the kubelet reported last; absent: not yet
  std::vector<std::string> unknown_devices_;   // as logged last
  bool inventory_sent_ = false;
};

}  // namespace chipweave::agent
