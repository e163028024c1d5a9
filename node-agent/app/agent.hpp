// Agent — the use case of the agent: what the probe sees, judged by the health policy, with what
// people say laid over it, handed on when it changes.
//
// A source that fails is counted and logged, and the last good state stays: neither a half-written
// file nor a driver that hangs may empty a node. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "node-agent/app/fault_source.hpp"
#include "node-agent/app/health/faults.hpp"
#include "node-agent/app/health/health_judge.hpp"
#include "node-agent/app/machine_source.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

struct AgentOptions {
  std::string node;
  std::vector<std::string> resources;  // empty: by vendor
  domain::HealthPolicy policy;
  // The probe numbers what answers it (continuity.hpp); else what it says is all there is.
  bool hardware = false;
};

// A fault that came (raised), went, or became another one.
struct FaultChange {
  enum class Kind { raised, changed, cleared };
  Kind kind = Kind::raised;
  domain::Fault fault;
};

// "raised", "changed", "cleared".
const char* to_string(FaultChange::Kind kind);

struct AgentEvents {
  // Another state. urgent: something became worse than it was, so that each moment counts.
  std::function<void(const NodeStatePtr&, bool urgent)> state;
  // Before the state that it is in.
  std::function<void(const FaultChange&)> fault;
  std::function<void(const std::string&)> warning;  // sentences for the log
};

class Agent {
 public:
  // `faults` may be null. The probe, the source and the clock must outlive it.
  Agent(AgentOptions options, const Clock& clock, MachineSource& probe, FaultSource* faults,
        AgentEvents events);

  // The first look at the machine. A probe that is not ready gives the first state later; the
  // error of one that is ends the program. A bad health file is an error here too: at start
  // somebody is watching.
  Result<void> start();
  // Asks the sources for changes and lets time do its part. O(faults) when nothing is new.
  void check();

  // What operators ask for in the cluster; in force with the next check().
  void cordon(Cordon cordon);
  void clear_faults(std::optional<domain::ChipIndex> chip);
  // Faults of an earlier run of this boot of the node, once, after the first state: those of chips
  // that are here, whatever their numbers are now, and of the machine. What was cleared before, by
  // an order that waited for this agent to start, stays cleared.
  void restore(const std::vector<domain::RememberedFault>& faults);

  // Null before the first one.
  const NodeStatePtr& state() const { return state_; }
  std::uint64_t errors() const { return errors_; }
  // Since when what we know was confirmed by its sources; grows while they fail.
  std::chrono::duration<double> age() const;

 private:
  void look();
  void listen();
  void see(domain::Observation seen);
  void warn_of(const std::vector<std::string>& warnings);
  Result<std::vector<domain::Fault>> faults_now(const domain::Observation& seen);
  void compose();
  Result<NodeStatePtr> composed(const domain::Observation& seen,
                                std::vector<domain::Fault> faults) const;
  void hand_on(NodeStatePtr next);
  void report_changes(const std::vector<domain::Fault>& before,
                      const std::vector<domain::Fault>& now) const;
  void fail(const Error& error);
  std::int64_t now_ms() const;

  AgentOptions options_;
  const Clock& clock_;
  MachineSource& probe_;
  FaultSource* fault_source_;
  AgentEvents events_;
  HealthJudge judge_;
  bool restored_ = false;
  std::set<std::optional<domain::ChipIndex>> cleared_;  // before that
  std::optional<domain::Observation> seen_;
  std::vector<std::string> warned_;  // of the newest observation
  bool new_ = false;                 // and not yet part of a state
  domain::DeclaredFaults said_;      // by the health file
  std::int64_t said_at_ = 0;
  Cordon cordon_;
  std::int64_t cordoned_at_ = 0;
  std::optional<ProbeTrouble> trouble_;
  std::optional<ProbeTrouble> failure_;  // of the newest look
  std::int64_t trouble_at_ = 0;
  NodeStatePtr state_;
  std::uint64_t errors_ = 0;
  bool probe_failing_ = false;
  bool faults_failing_ = false;
  std::string misfit_;  // why there is no state of what is seen and said; "" if there is
  Clock::Steady good_{};
};

}  // namespace chipweave::agent
