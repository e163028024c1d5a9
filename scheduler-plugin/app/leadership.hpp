// Leadership — whether this replica is the one that decides, where several run and one leads.
//
// Behind it stands an election (scheduler-plugin/kube/leader_election.hpp) or a test. Owner: the
// loop thread.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::sched {

class Leadership {
 public:
  Leadership() = default;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;
  virtual ~Leadership() = default;
  // Why this replica does not lead at this moment, in words; empty: it leads. Found out when asked,
  // so that one that was stopped for a while knows before anything else of it has run.
  virtual std::string standby() const = 0;
  // Rises with each term of this replica. What was decided in one term may not be done in another:
  // somebody else may have decided between them.
  virtual std::uint64_t term() const = 0;
};

}  // namespace chipweave::sched
