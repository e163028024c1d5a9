// ReportPlan — what to say next on a report stream: a full report first, then what changed, else a
// sign of life.
//
// Pure: events in, the next message out; no transport and no clock. One report is under way at a
// time, so changes that come faster than acks are merged, and what is sent is always computed
// against what the scheduler holds.
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
  NodeStatePtr state;  // of a full report
  Delta delta;
};

enum class Answer { taken, older, needs_full, refused };

class ReportPlan {
 public:
  void want(NodeStatePtr state) { wanted_ = std::move(state); }
  // A new stream: nothing the scheduler may still hold is relied on.
  void opened();
  void closed();
  void heartbeat_due() { heartbeat_due_ = true; }

  // The message to write now; nullopt while closed, while a report waits for its ack, or when there
  // is nothing to say.
  std::optional<Outgoing> next();
  // False if no report waits for an ack.
  bool acked(Answer answer);
  bool waits_for_ack() const { return under_way_.has_value(); }

 private:
  NodeStatePtr wanted_;
  NodeStatePtr held_;     // what the scheduler has taken on this stream
  NodeStatePtr refused_;  // not sent again before the next heartbeat
  std::optional<Outgoing> under_way_;
  NodeStatePtr under_way_state_;
  bool open_ = false;
  bool heartbeat_due_ = false;
  std::uint64_t sequence_ = 0;
};

}  // namespace chipweave::agent
