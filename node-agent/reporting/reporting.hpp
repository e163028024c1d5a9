// Reporting — where this agent reports its node, as the options say: to a scheduler by gRPC
// (standalone_reporting.hpp), or to the API server of a cluster (cluster_reporting.hpp).
//
// Owner: the program; used and destroyed on the loop thread, or when the loop does not run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/kube/event_sender.hpp"
#include "node-agent/app/agent.hpp"
#include "node-agent/publish/reporter.hpp"
#include "node-agent/ranktables/rank_table_files.hpp"
#include "node-agent/reporting/chip_users.hpp"
#include "node-agent/reporting/reporting_options.hpp"

namespace chipweave::agent {

// Commands of operators in the cluster.
struct OperatorCommands {
  std::function<void(Cordon, bool complete)> cordon;  // as Agent's
  std::function<void(std::optional<std::string>)> maintenance;
  std::function<void(std::optional<domain::ChipIndex>)> clear_faults;  // absent: of all chips
};

// For metrics; called only where the kubelet is to be asked.
struct KubeletEvents {
  std::function<void(bool)> supported;  // whether its version may be asked
  std::function<void(bool)> answers;
  std::function<void(const ChipUsers&)> users;
  // What containers have, when it changes; also of containers that are only about to start.
  std::function<void(const domain::GivenChips&)> given = {};
};

class Reporting {
 public:
  Reporting() = default;
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;
  virtual ~Reporting() = default;

  // Before the first state: reads what the previous run has left, where there is such a memory.
  virtual void recall() = 0;
  // As Reporter's; the first state starts the reports, with its faults as raised.
  virtual void want(const NodeStatePtr& state, bool urgent) = 0;
  // Ignored before the first state.
  virtual void fault(const FaultChange& change) = 0;
  // nullopt without a cluster, where there are no events.
  virtual std::optional<kube::EventSender::Stats> event_stats() const = 0;
  // nullopt: none are kept as files.
  virtual std::optional<RankTableFiles::Counts> rank_tables() const = 0;
  virtual void stop(std::function<void()> done) = 0;
};

// Errors: invalid_argument if not running in a pod; an unusable file or address.
Result<std::unique_ptr<Reporting>> make_reporting(const ReportingOptions& options, http::Loop& loop,
                                                  const Clock& clock, ReporterEvents events,
                                                  OperatorCommands commands, KubeletEvents kubelet);

}  // namespace chipweave::agent
