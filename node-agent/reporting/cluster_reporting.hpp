// ClusterReporting — reports to the API server of a cluster, in the formats of chipweave and of
// other components; the same objects carry the orders of operators and the memory of the previous
// run. From the kubelet it learns which containers use which chips.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/kube/api_client.hpp"
#include "node-agent/dra/dra_driver.hpp"
#include "node-agent/publish/kube/kube_reporter.hpp"
#include "node-agent/publish/kube/node_events.hpp"
#include "node-agent/publish/node/compat_publisher.hpp"
#include "node-agent/publish/node/start_sequence.hpp"
#include "node-agent/reporting/gate_watch.hpp"
#include "node-agent/reporting/kubelet_chips.hpp"
#include "node-agent/reporting/reporting.hpp"

namespace chipweave::agent {

class ClusterReporting final : public Reporting {
 public:
  // Errors: invalid_argument if not running in a pod; an unusable file or address.
  static Result<std::unique_ptr<ClusterReporting>> make(const ReportingOptions& options,
                                                        http::Loop& loop, const Clock& clock,
                                                        ReporterEvents events,
                                                        OperatorCommands commands,
                                                        KubeletEvents kubelet);

  void recall() override;
  void want(const NodeStatePtr& state, bool urgent) override;
  void fault(const FaultChange& change) override;
  std::optional<kube::EventSender::Stats> event_stats() const override { return events_->stats(); }
  std::optional<RankTableFiles::Counts> rank_tables() const override;
  void stop(std::function<void()> done) override;

 private:
  explicit ClusterReporting(std::unique_ptr<kube::ApiClient> api) : api_(std::move(api)) {}

  void report(const ReportingOptions& options, const Clock& clock,
              const std::string& lease_namespace, ReporterEvents events);
  void publish(const ReportingOptions& options, const Clock& clock, OperatorCommands commands);
  void ask_kubelet(const ReportingOptions& options, http::Loop& loop, KubeletEvents events);
  void drive(const ReportingOptions& options, http::Loop& loop,
             std::function<void(const std::string&)> contested);
  void begin_events();
  void watch_gate(const ReportingOptions& options, http::Loop& loop);
  NodeStatePtr with_given() const;
  void entered(StartSequence::Stage stage);

  std::unique_ptr<kube::ApiClient> api_;  // outlives what uses it
  std::unique_ptr<StartSequence> start_;
  std::unique_ptr<KubeReporter> reporter_;
  std::unique_ptr<NodeEvents> events_;
  std::unique_ptr<CompatPublisher> compat_;
  std::unique_ptr<KubeletChips> kubelet_;        // null: the kubelet is not asked
  std::unique_ptr<dra::DraDriver> dra_;          // null: no DRA driver
  std::unique_ptr<GateWatch> gate_;              // null: no device plugin of ours enforces
  std::unique_ptr<RankTableFiles> rank_tables_;  // null: none are kept as files
  NodeStatePtr state_;                           // null: not known yet
  domain::Enforcement enforcement_ = domain::Enforcement::none;
  std::optional<domain::GivenChips> given_;  // nullopt: not known yet, or the kubelet is not asked
  // Of the previous run, until there is a state to compare it with.
  std::optional<domain::RememberedNode> remembered_;
};

}  // namespace chipweave::agent
