#include "common/http/connection_table.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::http {

void ConnectionTable::stamp(Connection& connection, Phase phase, Steady now) {
  connection.place.phase = phase;
  connection.place.deadline = now + timeouts_[static_cast<std::size_t>(phase)];
}

void ConnectionTable::add(std::shared_ptr<Connection> connection, Steady now) {
  Lane& to = lane(Phase::header);
  Connection& added = *connection;
  added.place.since = now;
  stamp(added, Phase::header, now);
  added.place.at = to.insert(to.end(), std::move(connection));
  ++size_;
}

ConnectionTable::Steady ConnectionTable::move(Connection& connection, Phase phase, Steady now) {
  Lane& to = lane(phase);
  to.splice(to.end(), lane(connection.place.phase), connection.place.at);
  const bool same_request = connection.place.phase == Phase::header && phase == Phase::body;
  if (!same_request) connection.place.since = now;
  stamp(connection, phase, now);
  return connection.place.deadline;
}

void ConnectionTable::remove(Connection& connection) {
  --size_;
  lane(connection.place.phase).erase(connection.place.at);
}

ConnectionTable::Steady ConnectionTable::earliest_deadline() const {
  Steady earliest = Steady::max();
  for (const Lane& l : lanes_) {
    if (!l.empty()) earliest = std::min(earliest, l.front()->place.deadline);
  }
  return earliest;
}

std::shared_ptr<Connection> ConnectionTable::late(Steady now) const {
  for (const Lane& l : lanes_) {
    if (!l.empty() && l.front()->place.deadline <= now) return l.front();
  }
  return nullptr;
}

std::shared_ptr<Connection> ConnectionTable::expendable() const {
  for (const Phase phase : {Phase::lingering, Phase::idle}) {
    if (!lane(phase).empty()) return lane(phase).front();
  }
  std::shared_ptr<Connection> oldest =
      lane(Phase::header).empty() ? nullptr : lane(Phase::header).front();
  // bodies are in order of their own start, not of their request's
  for (const auto& candidate : lane(Phase::body)) {
    if (!oldest || candidate->place.since < oldest->place.since) oldest = candidate;
  }
  return oldest;
}

std::shared_ptr<Connection> ConnectionTable::slowest(Steady before) const {
  std::shared_ptr<Connection> oldest;
  for (const Phase phase : {Phase::body, Phase::replying}) {
    for (const auto& candidate : lane(phase)) {
      const Steady since = candidate->place.since;
      if (since < before && (!oldest || since < oldest->place.since)) oldest = candidate;
    }
  }
  return oldest;
}

std::size_t ConnectionTable::held_by_slow(Steady before) const {
  std::size_t held = 0;
  for (const Phase phase : {Phase::body, Phase::replying}) {
    for (const auto& candidate : lane(phase))
      held += candidate->place.since < before ? candidate->held() : 0;
  }
  return held;
}

std::list<std::shared_ptr<Connection>> ConnectionTable::at_rest() const {
  Lane resting = all();
  resting.remove_if([](const auto& connection) {
    const Phase phase = connection->place.phase;
    return phase != Phase::idle && phase != Phase::lingering &&
           (phase != Phase::header || connection->has_begun_request());
  });
  return resting;
}

std::list<std::shared_ptr<Connection>> ConnectionTable::all() const {
  Lane everyone;
  for (const Lane& l : lanes_) everyone.insert(everyone.end(), l.begin(), l.end());
  return everyone;
}

}  // namespace chipweave::http
