// Leadership — whether this replica is the one that decides, where several run and one leads.
//
// Implemented by an election (scheduler-plugin/kube/leader_election.hpp) or a test. Owner: the
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
  // Why this replica does not lead right now, as a message; empty: it leads. Evaluated at each
  // call, so that a process that was paused notices before it does anything else.
  virtual std::string standby() const = 0;
  // Rises with each term of this replica. A decision of one term must not be carried out in
  // another, because another replica may have led in between.
  virtual std::uint64_t term() const = 0;
};

}  // namespace chipweave::sched
