// Lease — the object of coordination.k8s.io/v1 by which an agent shows that it lives.
#pragma once

#include <chrono>
#include <string>

#include "common/base/clock.hpp"

namespace chipweave::codec {

struct AgentLease {
  std::string ns;
  std::string name;              // as the node
  std::string holder;            // boot id of the agent
  std::string resource_version;  // of the lease that is replaced; empty: a new one
  std::chrono::seconds duration{30};
  Clock::Wall acquired;
  Clock::Wall renewed;
};

std::string lease_path(const std::string& ns);
// The whole object, labelled chipweave.dev/component=agent.
std::string write_lease(const AgentLease& lease);

}  // namespace chipweave::codec
