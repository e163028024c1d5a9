// Agent — the core of the agent: takes observations of the machine, applies the health policy and
// the faults and cordons of operators, and emits the resulting state when it changes.
//
// A source that fails is counted and logged, and the last good state stays: neither a half-written
// file nor a hanging driver may empty a node. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/remembered_node.hpp"
#include "node-agent/app/fault_source.hpp"
#include "node-agent/app/health/health_judge.hpp"
#include "node-agent/app/health/operator_faults.hpp"
#include "node-agent/app/machine/machine_source.hpp"
#include "node-agent/app/machine/machine_view.hpp"
#include "node-agent/app/maintenance.hpp"
#include "node-agent/app/metrics/carried_report.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

struct AgentOptions {
  std::string node;
  std::vector<std::string> resources;  // empty: by vendor
  domain::HealthPolicy policy;
  // Drivers number only the devices that respond, so chips are matched with those seen before
  // (continuity.hpp).
  bool hardware = false;
};

// A fault that was raised, cleared, or changed its effect or lanes.
struct FaultChange {
  enum class Kind { raised, changed, cleared };
  Kind kind = Kind::raised;
  domain::Fault fault;
};

// "raised", "changed", "cleared".
const char* to_string(FaultChange::Kind kind);

struct AgentEvents {
  // A new state. urgent: something got worse, so that it must be reported at once.
  std::function<void(const NodeStatePtr&, bool urgent)> state;
  // A fault has changed; called before `state` with the state that includes it.
  std::function<void(const FaultChange&)> fault;
  std::function<void(const std::string&)> warning;  // messages for the log
  // What the driver reported, with the chips' own indices: an event; a measurement of the chips,
  // with what their links have carried up to it.
  std::function<void(const domain::Signal&)> event = {};
  std::function<void(const domain::MetricsSample&, const CarriedReport&)> metrics = {};
};

class Agent {
 public:
  // `faults` may be null. Both sources and the clock must outlive it.
  Agent(AgentOptions options, const Clock& clock, MachineSource& machine, FaultSource* faults,
        AgentEvents events);

  // Reads the sources for the first time. Errors: a declared machine or a health file that cannot
  // be used, since an operator usually watches the start. Hardware gives the first state when it
  // responds.
  Result<void> start();
  // Reads changes of the sources and ends holds that have expired. O(faults) when nothing is new.
  void check();

  // Commands of operators; in force with the next check().
  // complete: all sources of the command were read; else it adds to what is known.
  void cordon(Cordon cordon, bool complete = true);
  // Chips that are gone are forgotten, too; the other ones keep their indices.
  void clear_faults(std::optional<domain::ChipIndex> chip);
  // While there is a reason, the hardware is not read, no chip is offered, and nothing is judged: a
  // reset, a MIG change or a new driver looks like a broken machine. Afterwards chips are offered
  // once the hardware was read again; what is wrong then counts at once.
  void maintenance(std::optional<std::string> reason);
  // Who else gives the chips away, so that none may be offered; empty: no other.
  void contested(std::string why);
  // What the previous run reported; once, before or after the first state. Chips keep the indices
  // that they had, missing ones stay listed, and the orders of operators hold until the above give
  // the current ones. What a command has cleared before this call stays cleared.
  void restore(domain::RememberedNode node);

  // Null before the first state.
  const NodeStatePtr& state() const { return state_; }
  std::uint64_t errors() const { return errors_; }
  // Why what it reports is not the hardware of now, so that no chips are offered; "" if it is.
  std::string blind() const;
  // Time since the sources last confirmed the state; grows while they fail.
  std::chrono::duration<double> age() const;

 private:
  void read_machine();
  void judge_trouble(std::optional<ProbeTrouble> trouble);
  std::optional<ProbeTrouble> trouble_now() const;
  void read_fault_source();
  // Whether there is a new observation, which the judge must see.
  bool take_reading(Result<domain::Observation> reading);
  bool fall_back();
  void take_events(std::vector<domain::Signal> events);
  void take_metrics(domain::MetricsSample sample);
  void machine_known();
  void judge_machine();
  void restore_cordon_and_faults();
  void apply_maintenance();
  void end_maintenance();
  void warn_of(const std::vector<std::string>& warnings);
  Result<std::vector<domain::Fault>> faults_now(const domain::Observation& seen);
  void compose();
  Result<NodeStatePtr> composed(const domain::Observation& seen,
                                std::vector<domain::Fault> faults) const;
  void emit(NodeStatePtr next);
  void report_changes(const std::vector<domain::Fault>& before,
                      const std::vector<domain::Fault>& now) const;
  void fail(const Error& error);
  std::int64_t now_ms() const;

  AgentOptions options_;
  const Clock& clock_;
  MachineSource& machine_;
  FaultSource* fault_source_;
  AgentEvents events_;
  HealthJudge judge_;
  MachineView machine_view_;
  Maintenance maintenance_;
  CarriedReport carried_;
  std::optional<domain::RememberedNode> remembered_;    // until there is a machine that it is about
  bool restored_ = false;                               // restore() was called
  std::set<std::optional<domain::ChipIndex>> cleared_;  // before what is remembered was restored
  Clock::Steady began_{};
  std::vector<domain::Signal> early_;  // events from before the first observation
  std::vector<std::string> warned_;    // of the newest observation
  bool unseen_ = false;                // the hardware, since the last maintenance
  bool new_ = false;                   // the machine is not part of a state yet
  domain::DeclaredFaults listed_;      // in the health file
  std::int64_t listed_at_ = 0;
  Cordon cordon_;
  std::int64_t cordoned_at_ = 0;
  bool cordon_known_ = false;  // it is not the previous run's
  std::string contested_;
  std::int64_t contested_since_ = 0;
  std::optional<ProbeTrouble> trouble_;
  std::optional<Clock::Steady> blind_since_;    // with interruptions of less than kWorkingFor
  std::optional<Clock::Steady> working_since_;  // in such an interruption
  std::optional<ProbeTrouble> failure_;         // of the newest reading
  NodeStatePtr state_;
  std::uint64_t errors_ = 0;
  bool machine_failing_ = false;
  bool faults_failing_ = false;
  std::string misfit_;  // why the inputs make no valid state; "" if they do
  Clock::Steady good_{};
};

}  // namespace chipweave::agent
