// Lease — the object of coordination.k8s.io/v1 that is an agent's heartbeat, and that elects the
// leader of several schedulers.
#pragma once

#include <chrono>
#include <cstdint>
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

struct LeaderLease {
  std::string ns;
  std::string name;
  std::string holder;            // empty: it is released
  std::string resource_version;  // of the lease that is replaced; empty: a new one
  std::chrono::seconds duration{1};
  Clock::Wall acquired;
  Clock::Wall renewed;
  std::int64_t transitions = 0;  // how often it went from one holder to another
};

std::string lease_path(const std::string& ns);
// The whole object, labelled chipweave.dev/component=agent or =scheduler.
std::string write_lease(const AgentLease& lease);
std::string write_lease(const LeaderLease& lease);

}  // namespace chipweave::codec
