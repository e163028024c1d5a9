// MachineSource — where the agent reads what its machine is: a profile, a file, or the hardware by
// way of the probe process.
//
// Called on the agent's loop thread only; a source may collect on a thread of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

// Why a source cannot confirm its last observation at present.
struct ProbeTrouble {
  std::string code;  // "probe.stuck", "probe.crashed", "probe.garbage", "probe.absent"
  std::string text;
};

// What is new since the last update.
struct MachineUpdate {
  // Of the drivers, in the order in which they came; they do not wait for an observation.
  std::vector<domain::Signal> events;
  // The newest reading of the whole machine, if there is one. not_found: there are no accelerators
  // here, an ordinary state.
  std::optional<Result<domain::Observation>> reading;
  // The newest measurement of the chips since that reading, with its indices.
  std::optional<domain::MetricsSample> metrics = {};
};

class MachineSource {
 public:
  MachineSource() = default;
  MachineSource(const MachineSource&) = delete;
  MachineSource& operator=(const MachineSource&) = delete;
  virtual ~MachineSource() = default;

  // Cheap if nothing is new: called twice a second.
  virtual MachineUpdate update() = 0;
  virtual std::optional<ProbeTrouble> trouble() const { return std::nullopt; }
  // While paused, the source lets go of the hardware: another program may reset it or exchange its
  // driver. Then it reads everything again. A source without hardware goes on.
  virtual void pause(bool yes) { (void)yes; }
  // When the source last confirmed its observation; nullopt if every call does.
  virtual std::optional<std::chrono::steady_clock::time_point> confirmed_at() const {
    return std::nullopt;
  }
};

}  // namespace chipweave::agent
