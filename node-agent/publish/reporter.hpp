// Reporter — keeps whoever places work told of what this node is: a scheduler (grpc_reporter.hpp)
// or the API server of a cluster (kube_reporter.hpp).
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
  std::function<void(bool)> connected;   // whether what we say is taken; false when it no longer is
  std::function<void(ReportKind)> sent;  // a report has left, in whatever form
  // What an earlier run of this boot of the node told of faults, perhaps nothing; once, before the
  // first write.
  std::function<void(const std::vector<domain::RememberedFault>&)> remembered = nullptr;
};

class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;

  // What is to be told from now on; only the newest matters. urgent: something became worse, and
  // must not wait for what limits the rate of reports. The first state must be there before
  // start().
  virtual void want(NodeStatePtr state, bool urgent) = 0;
  virtual void start() = 0;
  // Says nothing more, and calls `done` on the loop when nothing is under way.
  virtual void stop(std::function<void()> done) = 0;
};

}  // namespace chipweave::agent
