#include "scheduler-plugin/state/pod_record.hpp"

#include <stdexcept>
#include <utility>

namespace chipweave::sched {
namespace {

bool is_one_of(PodState state, std::initializer_list<PodState> states) {
  for (const PodState one : states) {
    if (one == state) return true;
  }
  return false;
}

// What belongs to no state but the earlier one.
void drop_foreign(PodRecord& r) {
  using S = PodState;
  if (!is_one_of(r.state, {S::pending, S::reserved, S::binding, S::uncertain}))
    r.evaluation.reset();
  if (!is_one_of(r.state, {S::binding, S::uncertain})) r.in_flight.reset();
  if (!is_one_of(r.state, {S::bound, S::annotating})) r.decision.reset();
  if (r.state != S::annotating) r.late.reset();
  if (r.state != S::disputed) r.dispute.reset();
}

}  // namespace

PodRecord* PodRecords::find(std::string_view uid) {
  const auto it = records_.find(uid);
  return it == records_.end() ? nullptr : it->second.get();
}

const PodRecord* PodRecords::find(std::string_view uid) const {
  const auto it = records_.find(uid);
  return it == records_.end() ? nullptr : it->second.get();
}

PodRecord* PodRecords::find_in_flight(std::string_view uid) {
  PodRecord* record = find(uid);
  return record != nullptr && record->in_flight != nullptr ? record : nullptr;
}

PodState PodRecords::state_of(const ClusterPod& pod) const {
  const PodRecord* record = find(pod.request.uid);
  const bool holds_nothing = record == nullptr || record->state == PodState::pending;
  if (!holds_nothing) return record->state;
  return pod.node.empty() ? PodState::pending : PodState::bound;
}

const InFlightBinding* PodRecords::being_bound(std::string_view uid) const {
  const PodRecord* record = find(uid);
  return record == nullptr ? nullptr : record->in_flight.get();
}

PodRecord* PodRecords::on(std::string_view uid, PodEvent event, const PodKey& key) {
  const auto it = records_.find(uid);
  const PodState from = it == records_.end() ? PodState::absent : it->second->state;
  const std::optional<PodState> to = next_state(from, event);
  if (!to) {
    throw std::logic_error("pod " + std::string(uid) + " is " + std::string(to_string(from)) +
                           ": it cannot be " + std::string(to_string(event)));
  }
  if (it == records_.end()) {
    auto fresh = std::make_unique<PodRecord>();
    fresh->uid = uid;
    fresh->key = key;
    PodRecord& record = *records_.emplace(fresh->uid, std::move(fresh)).first->second;
    enter(record, *to);
    return &record;
  }
  PodRecord& record = *it->second;
  if (*to == PodState::absent) {
    if (record.second != nullptr) end_second(record);
    by_state_[static_cast<std::size_t>(from)].erase(&record);
    records_.erase(it);
    return nullptr;
  }
  if (*to != from) enter(record, *to);
  return &record;
}

void PodRecords::enter(PodRecord& record, PodState state) {
  by_state_[static_cast<std::size_t>(record.state)].erase(&record);
  record.state = state;
  if (state != PodState::bound) by_state_[static_cast<std::size_t>(state)].insert(&record);
  drop_foreign(record);
}

void PodRecords::set_second(PodRecord& record, SecondSet second) {
  record.second = std::make_unique<SecondSet>(std::move(second));
  with_second_.insert(&record);
}

void PodRecords::end_second(PodRecord& record) {
  with_second_.erase(&record);
  record.second.reset();
}

std::size_t PodRecords::in_flight() const {
  return in(PodState::binding).size() + in(PodState::uncertain).size();
}

void PodRecords::each_after(std::string_view after,
                            const std::function<bool(PodRecord&)>& visit) const {
  for (auto it = records_.upper_bound(after); it != records_.end(); ++it) {
    if (!visit(*it->second)) return;
  }
}

}  // namespace chipweave::sched
