// StandaloneReporting — reports to a scheduler by gRPC, without a cluster: no orders of operators,
// no memory, no events.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "node-agent/publish/grpc_reporter.hpp"
#include "node-agent/reporting/reporting.hpp"

namespace chipweave::agent {

class StandaloneReporting final : public Reporting {
 public:
  // Errors: unusable TLS files.
  static Result<std::unique_ptr<StandaloneReporting>> make(const ReportingOptions& options,
                                                           http::Loop& loop, ReporterEvents events);

  void recall() override {}
  void want(const NodeStatePtr& state, bool urgent) override;
  void fault(const FaultChange&) override {}
  std::optional<kube::EventSender::Stats> event_stats() const override { return std::nullopt; }
  std::optional<RankTableFiles::Counts> rank_tables() const override { return std::nullopt; }
  void stop(std::function<void()> done) override { reporter_.stop(std::move(done)); }

  StandaloneReporting(http::Loop& loop, GrpcReporterOptions options, ReporterEvents events)
      : reporter_(loop, std::move(options), std::move(events)) {}

 private:
  GrpcReporter reporter_;
  bool started_ = false;
};

}  // namespace chipweave::agent
