#include "node-agent/app/agent.hpp"

#include <utility>

#include "node-agent/app/delta.hpp"
#include "node-agent/app/faults.hpp"
#include "node-agent/app/identity.hpp"

namespace chipweave::agent {

Agent::Agent(AgentOptions options, const Clock& clock, Probe& probe, FaultSource* faults,
             std::function<void(const std::string&)> warn)
    : options_(std::move(options)),
      clock_(clock),
      probe_(probe),
      fault_source_(faults),
      warn_(std::move(warn)) {}

Result<void> Agent::start() {
  auto found = probe_.discover();
  if (!found) return std::move(found).error();
  for (const std::string& warning : found->warnings) warn_(warning);
  domain::Faults faults;
  if (fault_source_ != nullptr) {
    if (auto said = fault_source_->changes()) {
      if (!said->ok()) return std::move(*said).error();
      faults = std::move(*said).value();
    }
  }
  auto state = compose(*found, faults);
  if (!state) return std::move(state).error();
  discovery_ = std::move(found).value();
  faults_ = std::move(faults);
  state_ = std::move(state).value();
  good_ = clock_.now();
  return {};
}

void Agent::check() {
  bool changed = false;
  if (probe_.changes()) {
    auto found = probe_.discover();
    probe_failing_ = !found.ok();
    if (found) {
      for (const std::string& warning : found->warnings) warn_(warning);
      discovery_ = std::move(found).value();
      changed = true;
    } else {
      fail(found.error());
    }
  }
  domain::Faults faults = faults_;
  if (auto said = fault_source_ == nullptr ? std::nullopt : fault_source_->changes()) {
    faults_failing_ = !said->ok();
    if (said->ok()) {
      faults = std::move(*said).value();
      changed = true;
    } else {
      fail(said->error());
    }
  }
  if (changed) take(std::move(faults));
  if (!probe_failing_ && !faults_failing_ && !unlike_) good_ = clock_.now();
}

void Agent::take(domain::Faults faults) {
  auto state = compose(*discovery_, faults);
  unlike_ = !state.ok();
  if (!state) return fail(state.error());
  faults_ = std::move(faults);
  const auto delta = delta_between(*state_, **state);
  if (delta && delta->empty()) return;
  state_ = std::move(state).value();
  if (on_state) on_state(state_);
}

Result<NodeStatePtr> Agent::compose(const domain::Observation& discovery,
                                    const domain::Faults& faults) const {
  std::vector<std::string> resources = options_.resources;
  if (resources.empty()) {
    auto usual = default_resources(discovery.topology);
    if (!usual) return std::move(usual).error();
    resources = std::move(usual).value();
  }
  auto named = with_identity(discovery.topology, options_.node);
  if (!named) return std::move(named).error();
  auto topology = with_faults(*named, faults);
  if (!topology) return std::move(topology).error().in("known faults");
  return NodeStatePtr(std::make_shared<const NodeState>(
      NodeState{discovery.machine, std::move(resources), std::move(topology).value()}));
}

void Agent::fail(const Error& error) {
  ++errors_;
  warn_(error.text() + " (the last good state is kept)");
}

std::chrono::duration<double> Agent::age() const { return clock_.now() - good_; }

}  // namespace chipweave::agent
