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
#include "node-agent/app/probe.hpp"
#include "node-agent/flags.hpp"
#include "node-agent/probes/health_file.hpp"
#include "node-agent/probes/helper/helper_probe.hpp"
#include "node-agent/probes/machine_lock.hpp"

namespace chipweave::agent {

class Sources {
 public:
  // `news`: called on any thread when a look may be worth while. Errors: conflict, when another
  // agent has the machine; else what is wrong with the policy's file.
  static Result<std::unique_ptr<Sources>> open(const Flags& flags, std::function<void()> news);

  Probe& probe() { return helper_ ? *helper_ : *probe_; }
  HealthFile* health() { return health_ ? &*health_ : nullptr; }
  const domain::HealthPolicy& policy() const { return policy_; }
  // Of the hardware's helper process; zeros where there is none.
  HelperCounts helper_counts() const { return helper_ ? helper_->counts() : HelperCounts{}; }
  // Whose changes are worth a look.
  const std::vector<std::string>& files() const { return files_; }

 private:
  MachineLock lock_;
  domain::HealthPolicy policy_;
  std::optional<HealthFile> health_;
  std::vector<std::string> files_;
  std::unique_ptr<Probe> probe_;  // of a profile or file
  std::unique_ptr<HelperProbe> helper_;
};

}  // namespace chipweave::agent
