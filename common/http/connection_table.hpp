// ConnectionTable — the open connections of a server by phase, oldest first: which have timed
// out, and which to drop when there are too many.
//
// All connections in a phase have the same time limit, so each list is sorted by deadline. Loop
// thread only.
//
// Asio has a timer for each operation, but neither an order of age nor one timer for thousands of
// connections.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
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
  // Steady::max() without connections.
  Steady earliest_deadline() const;
  // A connection whose deadline has passed, or null.
  std::shared_ptr<Connection> late(Steady now) const;
  // The connection to drop when there are too many: a lingering one, then the longest idle, then
  // the one whose request has been incomplete longest. Null if all are serving complete requests.
  std::shared_ptr<Connection> expendable() const;
  // The connection that has been sending a request or taking a reply for longest, if it began
  // before `before`; otherwise null.
  std::shared_ptr<Connection> slowest(Steady before) const;
  // What all connections that began before `before` hold for that.
  std::size_t held_by_slow(Steady before) const;
  // Connections between requests; a copy, so that they can be closed while iterating.
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
