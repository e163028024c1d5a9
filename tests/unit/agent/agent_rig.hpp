// AgentTest — an Agent with sources that the test sets, and what it has emitted.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node-agent/app/agent.hpp"
#include "tests/fakes/agent/machines.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {

struct FakeProbe final : MachineSource {
  Result<domain::Observation> answer = domain::Observation{"box", ring_of_four(), {}};
  bool changed = true;
  std::vector<domain::Signal> events;
  std::optional<domain::MetricsSample> metrics;
  std::optional<ProbeTrouble> problem;
  bool paused = false;
  void pause(bool yes) override { paused = yes; }
  std::optional<ProbeTrouble> trouble() const override { return problem; }
  MachineUpdate update() override {
    MachineUpdate out;
    if (paused) return out;
    out.events = std::exchange(events, {});
    if (std::exchange(changed, false)) out.reading = answer;
    out.metrics = std::exchange(metrics, std::nullopt);
    return out;
  }
};

struct FakeFaults final : FaultSource {
  std::optional<Result<domain::DeclaredFaults>> answer =
      Result<domain::DeclaredFaults>(domain::DeclaredFaults{});
  std::optional<Result<domain::DeclaredFaults>> changes() override {
    return std::exchange(answer, std::nullopt);
  }
};

struct AgentTest : testing::Test {
  ManualClock clock;
  FakeProbe probe;
  FakeFaults faults;
  std::vector<std::string> warnings;
  std::vector<NodeStatePtr> states;
  std::vector<bool> urgencies;
  std::vector<std::string> changes;  // "raised xid.79"
  std::vector<domain::Signal> events;
  std::vector<domain::MetricsSample> samples;
  Agent agent{options(),
              clock,
              probe,
              &faults,
              {[this](const NodeStatePtr& s, bool urgent) {
                 states.push_back(s);
                 urgencies.push_back(urgent);
               },
               [this](const FaultChange& change) {
                 changes.push_back(std::string(to_string(change.kind)) + " " + change.fault.code);
               },
               [this](const std::string& w) { warnings.push_back(w); },
               [this](const domain::Signal& event) { events.push_back(event); },
               [this](const domain::MetricsSample& sample, const CarriedReport&) {
                 samples.push_back(sample);
               }}};

  static AgentOptions options() {
    AgentOptions out;
    out.node = "n1";
    out.hardware = true;
    domain::HealthRule lost;
    lost.code = "xid.79";
    lost.effect = domain::Effect::unusable;
    lost.recovery = domain::Recovery::reset;
    domain::HealthRule gone;
    gone.code = "chip.gone";
    gone.effect = domain::Effect::unusable;
    domain::HealthRule machine = gone;
    machine.code = "machine.gone";
    machine.hold = 0;
    domain::HealthRule blind = gone;
    blind.code = "probe.*";
    blind.after = 30;
    domain::HealthRule driver = gone;
    driver.code = "driver.*";
    driver.hold = 0;
    out.policy.rules = {lost, gone, machine, blind, driver};
    return out;
  }
  void begin() {
    const auto started = agent.start();
    ASSERT_TRUE(started) << started.error().text();
    states.clear();
    urgencies.clear();
    changes.clear();
  }
  // Sets what the probe reports from now on.
  void see(domain::Observation seen) {
    probe.answer = std::move(seen);
    probe.changed = true;
    agent.check();
  }
  static domain::Signal event(const std::string& code, int chip) {
    return {
        domain::SignalKind::event, code, domain::ChipIndex{chip}, std::nullopt, "", 0, "broken"};
  }
  void say(Result<domain::DeclaredFaults> what) {
    faults.answer = std::move(what);
    agent.check();
  }
};

}  // namespace chipweave::agent
