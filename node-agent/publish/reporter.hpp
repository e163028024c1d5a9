// Reporter — reports this node's state, directly to a scheduler (grpc_reporter.hpp) or to the API
// server of a cluster (kube/kube_reporter.hpp).
//
// Loop thread only.
#pragma once

#include <functional>

#include "common/domain/remembered_node.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/publish/report_plan.hpp"

namespace chipweave::agent {

// For metrics.
struct ReporterEvents {
  std::function<void(bool)> connected;   // whether reports are accepted
  std::function<void(ReportKind)> sent;  // a report was sent or written
  // What the previous run reported, possibly nothing; once, before the first write. Only where
  // there is a memory.
  std::function<void(domain::RememberedNode)> remembered = nullptr;
  // When it changes: who else gives the chips of the node away; empty: no other. Only of a DRA
  // driver.
  std::function<void(const std::string& why)> contested = nullptr;
};

class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;

  // Sets the state to report; only the newest counts. urgent: something got worse, so the report
  // bypasses the rate limit.
  virtual void want(NodeStatePtr state, bool urgent) = 0;
  // Reports from now on. The first state must be set before.
  virtual void start() = 0;
  // Sends nothing more; calls `done` on the loop when nothing is in flight.
  virtual void stop(std::function<void()> done) = 0;
};

}  // namespace chipweave::agent
