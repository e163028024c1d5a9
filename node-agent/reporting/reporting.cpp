#include "node-agent/reporting/reporting.hpp"

#include <utility>

#include "node-agent/reporting/cluster_reporting.hpp"
#include "node-agent/reporting/standalone_reporting.hpp"

namespace chipweave::agent {

Result<std::unique_ptr<Reporting>> make_reporting(const ReportingOptions& options, http::Loop& loop,
                                                  const Clock& clock, ReporterEvents events,
                                                  OperatorCommands commands,
                                                  KubeletEvents kubelet) {
  using Made = Result<std::unique_ptr<Reporting>>;
  if (options.scheduler) {
    auto made = StandaloneReporting::make(options, loop, std::move(events));
    return made ? Made(std::move(*made)) : Made(std::move(made).error());
  }
  auto made = ClusterReporting::make(options, loop, clock, std::move(events), std::move(commands),
                                     std::move(kubelet));
  return made ? Made(std::move(*made)) : Made(std::move(made).error());
}

}  // namespace chipweave::agent
