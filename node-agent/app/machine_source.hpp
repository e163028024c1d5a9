// MachineSource — where the agent learns what its machine is. One implementation a source: a
// profile, a file, the hardware by way of a helper process.
//
// Called on the agent's loop thread only. A probe with events of its own collects them on its
// thread and lets changes() tell.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// Why a probe cannot confirm now what it said last.
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
  // True if discover() may answer differently than the last time it was called. Cheap: asked twice
  // a second.
  virtual bool changes() = 0;
  virtual std::optional<ProbeTrouble> trouble() const { return std::nullopt; }
  // When the source was last heard, where that is not whenever it is asked.
  virtual std::optional<std::chrono::steady_clock::time_point> heard() const {
    return std::nullopt;
  }
  // False as long as nothing is known yet and changes() will tell when it is.
  virtual bool ready() const { return true; }
};

}  // namespace chipweave::agent
