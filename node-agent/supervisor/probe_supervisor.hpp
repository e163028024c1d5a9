// ProbeSupervisor — the hardware as a helper process sees it. Drivers and vendor libraries hang,
// crash and lie; here they do it in a process of their own, which is killed and started anew, while
// the agent keeps the last truth and says how old it is.
//
// A thread of its own starts the helper, reads its lines (codec/agent/probe_line.hpp) and watches
// the time between them; the loop thread takes what came. Wiring of the two: one mutex, no call
// from one to the other but `news`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node-agent/app/machine_source.hpp"

namespace chipweave::agent {

struct SupervisorOptions {
  std::vector<std::string> words;                       // the program and its arguments
  std::chrono::milliseconds first_line_within{60'000};  // a driver may take long to wake its chips
  std::chrono::milliseconds line_within{5'000};
  std::chrono::milliseconds restart_least{100};  // doubles with each run that was no good
  std::chrono::milliseconds restart_most{60'000};
  std::chrono::milliseconds good_after{60'000};  // of a run
};

struct SupervisorCounts {
  std::uint64_t starts = 0;
  std::uint64_t stuck = 0;    // runs that were silent for too long
  std::uint64_t crashed = 0;  // runs that ended by themselves
  std::uint64_t garbage = 0;  // runs whose lines made no sense
};

class ProbeSupervisor final : public MachineSource {
 public:
  // `news` is called on the thread whenever changes() or trouble() may answer differently.
  ProbeSupervisor(SupervisorOptions options, std::function<void()> news);
  // Kills the helper. Waits for it no longer than two seconds.
  ~ProbeSupervisor() override;

  // What it saw last; unavailable before the first answer.
  Result<domain::Observation> discover() override;
  bool changes() override;
  std::optional<ProbeTrouble> trouble() const override;
  std::optional<std::chrono::steady_clock::time_point> heard() const override;
  bool ready() const override;
  SupervisorCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
