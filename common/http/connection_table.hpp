// ConnectionTable — the open connections of a server by phase, oldest first: who is late, and who
// has to go.
//
// A phase has one time limit for all, so each list is in order of deadlines and nothing is ever
// searched for those. Loop thread only.
#pragma once

#include <array>
#include <chrono>
#include <list>
#include <memory>

#include "common/http/connection.hpp"

namespace chipweave::http {

class ConnectionTable {
 public:
  using Steady = Connection::Steady;
  using Timeouts = std::array<std::chrono::milliseconds, kPhases>;  // by Phase

  explicit ConnectionTable(const Timeouts& timeouts) : timeouts_(timeouts) {}

  void add(std::shared_ptr<Connection> connection, Steady now);
  // The new deadline.
  Steady move(Connection& connection, Phase phase, Steady now);
  void remove(Connection& connection);

  std::size_t size() const { return size_; }
  // Steady::max() if there is no connection.
  Steady earliest_deadline() const;
  // Some connection whose time is up; null if there is none.
  std::shared_ptr<Connection> late(Steady now) const;
  // Whom to drop when there are too many: one that lingers, then the one idle longest, then the one
  // that has been incomplete longest. Null if all are busy with a whole request.
  std::shared_ptr<Connection> expendable() const;
  // Connections between requests, by a copy that stays valid while they are closed.
  std::list<std::shared_ptr<Connection>> at_rest() const;
  std::list<std::shared_ptr<Connection>> all() const;

 private:
  using Lane = std::list<std::shared_ptr<Connection>>;
  Lane& lane(Phase phase) { return lanes_[static_cast<std::size_t>(phase)]; }
  const Lane& lane(Phase phase) const { return lanes_[static_cast<std::size_t>(phase)]; }
  void stamp(Connection& connection, Phase phase, Steady now);

  Timeouts timeouts_;
  std::array<Lane, kPhases> lanes_;
  std::size_t size_ = 0;
};

}  // namespace chipweave::http
