// Sources — where this agent's knowledge comes from, as the flags say: the probe, the health file,
// the policy. Part of program.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/health_policy.hpp"
#include "node-agent/app/machine_source.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/sources/health_file.hpp"
#include "node-agent/sources/machine_lock.hpp"
#include "node-agent/supervisor/probe_supervisor.hpp"

namespace chipweave::agent {

class Sources {
 public:
  // `news`: called on any thread when a look may be worth while. Errors: conflict, when another
  // agent has the machine; else what is wrong with the policy's file.
  static Result<std::unique_ptr<Sources>> open(const Flags& flags, std::function<void()> news);

  MachineSource& probe() { return helper_ ? *helper_ : *probe_; }
  HealthFile* health() { return health_ ? &*health_ : nullptr; }
  const domain::HealthPolicy& policy() const { return policy_; }
  // Of the hardware's helper process; zeros where there is none.
  SupervisorCounts supervisor_counts() const {
    return helper_ ? helper_->counts() : SupervisorCounts{};
  }
  // Whose changes are worth a look.
  const std::vector<std::string>& files() const { return files_; }

 private:
  MachineLock lock_;
  domain::HealthPolicy policy_;
  std::optional<HealthFile> health_;
  std::vector<std::string> files_;
  std::unique_ptr<MachineSource> probe_;  // of a profile or file
  std::unique_ptr<ProbeSupervisor> helper_;
};

}  // namespace chipweave::agent
