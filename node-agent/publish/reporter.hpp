// Reporter — reports this node's state, directly to a scheduler (grpc_reporter.hpp) or to the API
// server of a cluster (kube/kube_reporter.hpp).
//
// Loop thread only.
#pragma once

#include <functional>
#include <vector>

#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/report_plan.hpp"

namespace chipweave::agent {

// For metrics.
struct ReporterEvents {
  std::function<void(bool)> connected;   // whether reports are accepted
  std::function<void(ReportKind)> sent;  // a report was sent or written
  // The faults that the previous run in the same boot of the node reported, possibly none; once,
  // before the first write.
  std::function<void(const std::vector<domain::RememberedFault>&)> remembered = nullptr;
};

class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;

  // Sets the state to report; only the newest counts. urgent: something got worse, so the report
  // bypasses the rate limit. The first state must be set before start().
  virtual void want(NodeStatePtr state, bool urgent) = 0;
  virtual void start() = 0;
  // Sends nothing more; calls `done` on the loop when nothing is in flight.
  virtual void stop(std::function<void()> done) = 0;
};

}  // namespace chipweave::agent
