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
  under_way_.reset();
  under_way_state_ = nullptr;
  heartbeat_due_ = false;
}

std::optional<Outgoing> ReportPlan::next() {
  if (!open_ || under_way_ || wanted_ == nullptr) return std::nullopt;
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
  heartbeat_due_ = false;  // any report is a sign of life
  out.sequence = ++sequence_;
  under_way_ = out;
  under_way_state_ = wanted_;
  return out;
}

bool ReportPlan::acked(Answer answer) {
  if (!under_way_) return false;
  const ReportKind kind = under_way_->kind;
  under_way_.reset();
  const NodeStatePtr state = std::move(under_way_state_);
  switch (answer) {
    case Answer::taken:
    case Answer::older:
      // Older: somebody newer speaks for the node. Stay on the line without repeating ourselves;
      // when they leave, a heartbeat is answered needs_full.
      if (kind != ReportKind::heartbeat) held_ = state;
      break;
    case Answer::needs_full:
      held_ = nullptr;
      break;
    case Answer::refused:
      // The same words would be refused again; the next heartbeat tries once more.
      if (kind != ReportKind::heartbeat) {
        held_ = nullptr;
        refused_ = state;
      }
      break;
  }
  return true;
}

}  // namespace chipweave::agent
