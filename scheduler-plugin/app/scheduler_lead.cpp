// Leadership among several replicas: terms, and what remains after one.
//
// A new leader may not have seen the previous leader's last bindings. Once per term, before it
// allocates chips of a node, it therefore lists the node's pods; until then the node is uncertain.
// A former leader drops its reservations. Its bindings in flight stay uncertain like any others,
// but yield to the next leader's.
#include <algorithm>
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

std::string Scheduler::cannot_decide() const {
  if (!waiting_for_.empty()) return waiting_for_;
  return leadership_ == nullptr ? std::string() : leadership_->standby();
}

std::uint64_t Scheduler::term() const { return leadership_ == nullptr ? 0 : leadership_->term(); }

void Scheduler::step_down() {
  for (const std::string& uid : speculative_.end_others({})) withdraw(uid);
  end_reservations(Clock::Steady::max(), ReservationEvent::dropped);
  for (const PodState state :
       {PodState::pending, PodState::reserved, PodState::binding, PodState::uncertain}) {
    // another replica answers these pods now
    for (PodRecord* record : records_.in(state)) record->evaluation.reset();
  }
}

bool Scheduler::is_node_certain(const std::string& node) {
  if (leadership_ == nullptr)
    return true;  // the first list was current, and no other replica decides
  if (std::exchange(certain_term_, term()) != term()) certain_nodes_.clear();
  return certain_nodes_.contains(node);
}

void Scheduler::when_node_certain(const std::string& node, Done then) {
  if (is_node_certain(node)) return then({});
  const auto asked = std::pair(term(), node);
  std::vector<Done>& waiting = awaiting_certainty_[asked];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  cluster_.refresh_node(node, [this, asked](const Result<void>& result) {
    const auto over = awaiting_certainty_.extract(asked);
    Result<void> outcome = result;
    if (outcome && (asked.first != term() || !cannot_decide().empty())) {
      outcome = make_error(Errc::unavailable, "the leader has changed; try again");
    } else if (outcome && !is_node_certain(asked.second)) {
      certain_nodes_.insert(asked.second);
    }
    for (const Done& done : over.mapped()) done(outcome);
  });
}

// Whether another replica may have led since that term.
bool Scheduler::is_earlier(std::uint64_t than) const {
  return than != term() || (leadership_ != nullptr && !leadership_->standby().empty());
}

// A pod is bound with these chips. A binding of an earlier term for the same chips was unknown to
// the leader that gave them away, so it was never stored.
void Scheduler::give_up_earlier(NodeId node, const Placement& claimed) {
  const auto claims_any = [&](const std::vector<int>& indices) {
    return std::any_of(indices.begin(), indices.end(), [&](int chip) {
      return std::find(claimed.chips.begin(), claimed.chips.end(), chip) != claimed.chips.end();
    });
  };
  std::vector<PodRecord*> lost;
  for (PodRecord* record : records_.with_second()) {
    const Holding* kept = ledger_.find(record->second->holding);
    if (kept->node == node && is_earlier(record->second->term) &&
        claims_any(nodes_.node(node).topology.indices(kept->chips)))
      lost.push_back(record);
  }
  for (PodRecord* record : lost) {
    ledger_.drop(record->second->holding);
    records_.end_second(*record);
  }
  std::vector<std::string> uids;
  for (const PodState state : {PodState::binding, PodState::uncertain}) {
    for (const PodRecord* record : records_.in(state)) {
      const Decision& d = record->in_flight->decision;
      if (d.node == node && record->uid != claimed.uid && is_earlier(record->in_flight->term) &&
          claims_any(d.indices))
        uids.push_back(record->uid);
    }
  }
  for (const std::string& uid : uids) {
    PodRecord* record = record_in_flight(uid);
    if (record == nullptr) continue;
    binding_failed(*record, make_error(Errc::conflict, "the chips of pod " + record->key.text() +
                                                           " were given to another pod by the next "
                                                           "leader"));
  }
}

}  // namespace chipweave::sched
