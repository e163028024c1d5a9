// Sources — where this agent reads its machine, known faults and policy from, as the flags say.
// Part of program.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/health_policy.hpp"
#include "node-agent/app/machine/machine_source.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/sources/health_file.hpp"
#include "node-agent/sources/machine_lock.hpp"
#include "node-agent/supervisor/probe_supervisor.hpp"

namespace chipweave::agent {

class Sources {
 public:
  // `on_change`: called on any thread when the machine may have changed. Errors: conflict, if
  // another agent watches the machine; an unusable policy file.
  static Result<std::unique_ptr<Sources>> open(const Flags& flags, std::function<void()> on_change);

  MachineSource& machine() { return supervisor_ ? *supervisor_ : *declared_; }
  HealthFile* health() { return health_ ? &*health_ : nullptr; }
  const domain::HealthPolicy& policy() const { return policy_; }
  // Counts of the probe process; zeros without one.
  SupervisorCounts supervisor_counts() const {
    return supervisor_ ? supervisor_->counts() : SupervisorCounts{};
  }
  // Whether the probe process measures the chips; false without one.
  bool measuring() const { return supervisor_ && supervisor_->measuring(); }
  // Files to watch for changes.
  const std::vector<std::string>& files() const { return files_; }

 private:
  MachineLock lock_;
  domain::HealthPolicy policy_;
  std::optional<HealthFile> health_;
  std::vector<std::string> files_;
  std::unique_ptr<MachineSource> declared_;      // from a profile or file
  std::unique_ptr<ProbeSupervisor> supervisor_;  // for the hardware
};

}  // namespace chipweave::agent
