#include "scheduler-plugin/app/gangs/opening/gate_opener.hpp"

#include <utility>

#include "scheduler-plugin/app/annotations.hpp"

namespace chipweave::sched {

bool GateOpener::open(const ClusterPod& pod, const std::string& gang, bool unplanned) {
  Opening& opening = openings_[pod.request.uid];
  if (opening.queued || opening.asked) return true;
  if (clock_.now() < opening.next) return false;
  opening.queued = true;
  opening.key = pod.request.key;
  due_.push_back({pod.request.key, pod.request.uid, gang, unplanned});
  go_on();
  return true;
}

void GateOpener::go_on() {
  if (std::exchange(going_on_, true)) return;
  while (!due_.empty() && asked_ < kMaxAsked) {
    const Due due = std::move(due_.front());
    due_.pop_front();
    openings_[due.uid].queued = false;
    begin(due);
  }
  going_on_ = false;
}

const ClusterPod* GateOpener::waiting(const Due& due) const {
  const ClusterPod* pod = cluster_.find(due.key);
  const bool waits = pod != nullptr && pod->request.uid == due.uid && pod->gated &&
                     !pod->foreign_gates && pod->node.empty();
  return waits ? pod : nullptr;
}

const Holding* GateOpener::place_of(const Due& due) const {
  const GangPlans::Where at = plans_.of(due.uid);
  return at.slot == nullptr ? nullptr : plans_.holding_of(*at.slot);
}

void GateOpener::begin(const Due& due) {
  const ClusterPod* pod = waiting(due);
  const Holding* place = place_of(due);
  if (pod == nullptr || (place == nullptr && !due.unplanned)) {
    openings_.erase(due.uid);
    return done_(due.gang);
  }
  openings_[due.uid].asked = true;
  ++asked_;
  if (place == nullptr || pinned_.contains(pod->scheduler)) return ungate(due);
  nominations_.tell(*pod, nodes_.node(place->node).name, [this, due] { ungate(due); });
}

// Its place may be another one by now, or gone.
void GateOpener::ungate(const Due& due) {
  const ClusterPod* pod = waiting(due);
  const Holding* place = place_of(due);
  if (pod == nullptr || (place == nullptr && !due.unplanned)) {
    openings_.erase(due.uid);
    return end(due);
  }
  UngateOrder order{due.key, due.uid, {}, std::nullopt};
  if (place != nullptr) {
    const std::string& node = nodes_.node(place->node).name;
    order.annotations =
        annotations_of(sched::place_of(plans_.of(due.uid), node, state_.network), node);
    if (pinned_.contains(pod->scheduler)) order.pin_to = node;
  }
  cluster_.ungate(order, [this, due](const Result<void>& result) { opened(due, result); });
}

void GateOpener::opened(const Due& due, const Result<void>& result) {
  if (result) {
    openings_.erase(due.uid);
  } else {
    Opening& opening = openings_[due.uid];
    opening.asked = false;
    opening.next = clock_.now() + opening.refusals.next();
    observer_.on(GangGateFailed{due.uid, result.error().text()});
  }
  end(due);
}

void GateOpener::end(const Due& due) {
  --asked_;
  done_(due.gang);
  go_on();
}

void GateOpener::forget_gone() {
  std::erase_if(openings_, [&](const auto& one) {
    const ClusterPod* pod = cluster_.find(one.second.key);
    return !one.second.asked && !one.second.queued &&
           (pod == nullptr || pod->request.uid != one.first);
  });
}

void GateOpener::step_down() {
  for (const Due& due : due_) openings_.erase(due.uid);
  due_.clear();
}

}  // namespace chipweave::sched
