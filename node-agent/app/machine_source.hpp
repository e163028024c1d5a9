// MachineSource — where the agent reads what its machine is: a profile, a file, or the hardware by
// way of the probe process.
//
// Called on the agent's loop thread only. A source with a thread of its own collects there and
// reports new observations by changes().
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// Why a source cannot confirm its last observation at present.
struct ProbeTrouble {
  std::string code;  // "probe.stuck", "probe.crashed", "probe.garbage", "probe.absent"
  std::string text;
};

class MachineSource {
 public:
  MachineSource() = default;
  MachineSource(const MachineSource&) = delete;
  MachineSource& operator=(const MachineSource&) = delete;
  virtual ~MachineSource() = default;

  // The whole machine as it is now, and the events since the last call. not_found: there are no
  // accelerators here, an ordinary state.
  virtual Result<domain::Observation> discover() = 0;
  // True if discover() may return something new. Cheap: called twice a second.
  virtual bool changes() = 0;
  virtual std::optional<ProbeTrouble> trouble() const { return std::nullopt; }
  // When the source last confirmed its observation; nullopt if every call does.
  virtual std::optional<std::chrono::steady_clock::time_point> confirmed_at() const {
    return std::nullopt;
  }
  // False until the first observation is available; changes() turns true then.
  virtual bool ready() const { return true; }
};

}  // namespace chipweave::agent
