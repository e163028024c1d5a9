#include "node-agent/publish/report_plan.hpp"

#include <utility>

namespace chipweave::agent {

const char* name_of(ReportKind kind) {
  switch (kind) {
    case ReportKind::full:
      return "full";
    case ReportKind::delta:
      return "delta";
    case ReportKind::heartbeat:
      break;
  }
  return "heartbeat";
}

void ReportPlan::opened() {
  closed();
  open_ = true;
}

void ReportPlan::closed() {
  open_ = false;
  held_ = nullptr;
  refused_ = nullptr;
  in_flight_.reset();
  in_flight_state_ = nullptr;
  heartbeat_due_ = false;
}

std::optional<Outgoing> ReportPlan::next() {
  if (!open_ || in_flight_ || wanted_ == nullptr) return std::nullopt;
  if (heartbeat_due_) refused_ = nullptr;
  Outgoing out;
  if (held_ != wanted_ && refused_ != wanted_) {
    const auto delta = held_ == nullptr ? std::nullopt : delta_between(*held_, *wanted_);
    if (!delta) {
      out.kind = ReportKind::full;
      out.state = wanted_;
    } else if (!delta->empty()) {
      out.kind = ReportKind::delta;
      out.delta = *delta;
    } else {
      held_ = wanted_;
    }
  }
  if (out.kind == ReportKind::heartbeat && !heartbeat_due_) return std::nullopt;
  heartbeat_due_ = false;  // any report counts as a heartbeat
  out.sequence = ++sequence_;
  in_flight_ = out;
  in_flight_state_ = wanted_;
  return out;
}

bool ReportPlan::acked(Answer answer) {
  if (!in_flight_) return false;
  const ReportKind kind = in_flight_->kind;
  in_flight_.reset();
  const NodeStatePtr state = std::move(in_flight_state_);
  switch (answer) {
    case Answer::accepted:
    case Answer::older:
      // Older: a newer agent reports this node. Keep the stream without repeating the report; when
      // that agent is gone, a heartbeat is answered needs_full.
      if (kind != ReportKind::heartbeat) held_ = state;
      break;
    case Answer::needs_full:
      held_ = nullptr;
      break;
    case Answer::refused:
      // The same report would be refused again; the next heartbeat retries.
      if (kind != ReportKind::heartbeat) {
        held_ = nullptr;
        refused_ = state;
      }
      break;
  }
  return true;
}

}  // namespace chipweave::agent
