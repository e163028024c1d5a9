// ReportPlan — what to send next on a report stream: a full report first, then changes, otherwise a
// heartbeat.
//
// Pure: events in, the next message out; no transport and no clock. One report is in flight at a
// time, so changes that come faster than acks are merged, and what is sent is always relative to
// what the scheduler has accepted.
#pragma once

#include <cstdint>
#include <optional>

#include "node-agent/app/delta.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

enum class ReportKind { full, delta, heartbeat };
const char* name_of(ReportKind kind);

struct Outgoing {
  ReportKind kind = ReportKind::heartbeat;
  std::uint64_t sequence = 0;
  NodeStatePtr state;  // only in a full report
  Delta delta;
};

enum class Answer { accepted, older, needs_full, refused };

class ReportPlan {
 public:
  void want(NodeStatePtr state) { wanted_ = std::move(state); }
  // A new stream: the scheduler is taken to hold nothing.
  void opened();
  void closed();
  void heartbeat_due() { heartbeat_due_ = true; }

  // The message to write now; nullopt while closed, while a report waits for its ack, or when
  // nothing is due.
  std::optional<Outgoing> next();
  // False if no report waits for an ack.
  bool acked(Answer answer);
  bool waits_for_ack() const { return in_flight_.has_value(); }

 private:
  NodeStatePtr wanted_;
  NodeStatePtr held_;     // what the scheduler has accepted on this stream
  NodeStatePtr refused_;  // not sent again before the next heartbeat
  std::optional<Outgoing> in_flight_;
  NodeStatePtr in_flight_state_;
  bool open_ = false;
  bool heartbeat_due_ = false;
  std::uint64_t sequence_ = 0;
};

}  // namespace chipweave::agent
