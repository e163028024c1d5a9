// Agent — the use case of the agent: what the probe sees, with known faults laid over it, handed on
// when it changes.
//
// A source that fails is counted and logged, and the last good state stays: a half-written file
// must not empty a node. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "node-agent/app/fault_source.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/app/probe.hpp"

namespace chipweave::agent {

struct AgentOptions {
  std::string node;
  std::vector<std::string> resources;  // empty: by vendor
};

class Agent {
 public:
  // `warn` takes sentences for the log. `faults` may be null.
  Agent(AgentOptions options, const Clock& clock, Probe& probe, FaultSource* faults,
        std::function<void(const std::string&)> warn);

  // The first look at the machine; without one there is nothing to report, so its error ends the
  // program. A bad health file is an error here too: at start somebody is watching.
  Result<void> start();
  // Asks the sources for changes; calls `on_state` if the state is another one now.
  void check();

  std::function<void(const NodeStatePtr&)> on_state;
  const NodeStatePtr& state() const { return state_; }
  std::uint64_t errors() const { return errors_; }
  // Since when what we know was confirmed by its sources; grows while they fail.
  std::chrono::duration<double> age() const;

 private:
  void take(domain::Faults faults);
  Result<NodeStatePtr> compose(const domain::Observation& discovery,
                               const domain::Faults& faults) const;
  void fail(const Error& error);

  AgentOptions options_;
  const Clock& clock_;
  Probe& probe_;
  FaultSource* fault_source_;
  std::function<void(const std::string&)> warn_;
  std::optional<domain::Observation> discovery_;
  domain::Faults faults_;
  NodeStatePtr state_;
  std::uint64_t errors_ = 0;
  bool probe_failing_ = false;
  bool faults_failing_ = false;
  bool unlike_ = false;  // faults and machine do not fit each other
  Clock::Steady good_{};
};

}  // namespace chipweave::agent
