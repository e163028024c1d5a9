// ProbeSupervisor — the hardware as the probe process reports it. Drivers and vendor libraries may
// hang, crash or return nonsense, so they run in a process of their own, which is killed and
// restarted when they do, while the agent keeps the last good observation and its age.
//
// Its own thread starts the process, reads its lines (codec/agent/probe_line.hpp) and enforces a
// time limit between them; the loop thread takes the results. The two share one mutex; the thread
// calls the owner through `on_change` and `SupervisorOptions::warning` only.
//
// A process that fails while it measures the chips is followed by one that does not measure: what
// chips measure is information, and must not cost the node. Measuring is tried again later.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node-agent/app/machine/machine_source.hpp"

namespace chipweave::agent {

struct SupervisorOptions {
  std::vector<std::string> command;  // the program and its arguments
  // The same, but it does not measure the chips; empty: `command` does not either.
  std::vector<std::string> command_without_measuring = {};
  // How long measuring stays off after it has failed, and longer while a process that hung cannot
  // be killed.
  std::chrono::milliseconds measuring_off_for{std::chrono::hours(1)};
  // A message for the log; called on the thread.
  std::function<void(const std::string&)> warning = [](const std::string&) {};
  // The first line that needs the driver: it may be slow to initialise chips.
  std::chrono::milliseconds first_line_within{60'000};
  std::chrono::milliseconds line_within{5'000};
  std::chrono::milliseconds restart_min{100};  // doubles after each run that was not stable
  std::chrono::milliseconds restart_max{60'000};
  std::chrono::milliseconds stable_after{60'000};  // a run of this length ends the back-off
};

struct SupervisorCounts {
  std::uint64_t starts = 0;
  std::uint64_t stuck = 0;    // runs that exceeded the time limit
  std::uint64_t crashed = 0;  // runs that ended on their own
  std::uint64_t garbage = 0;  // runs with lines that could not be parsed
};

class ProbeSupervisor final : public MachineSource {
 public:
  // `on_change` is called on the thread whenever update() or trouble() may have something new.
  ProbeSupervisor(SupervisorOptions options, std::function<void()> on_change);
  // Kills the process and waits for its end, at most two seconds.
  ~ProbeSupervisor() override;

  MachineUpdate update() override;
  std::optional<ProbeTrouble> trouble() const override;
  // Ends the process, as its end does, and starts no other one meanwhile.
  void pause(bool yes) override;
  std::optional<std::chrono::steady_clock::time_point> confirmed_at() const override;
  SupervisorCounts counts() const;
  // Whether the process measures the chips; false also if it never does.
  bool measuring() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
