#include "scheduler-plugin/app/gangs/gang_gates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler-plugin/app/annotations.hpp"

namespace chipweave::sched {

StoredPlan stored_plan(const GangPlan& plan, const GangPlans& plans, const NodeTable& nodes) {
  StoredPlan out;
  out.gang = plan.gang;
  out.plan = plan.id;
  for (const GangSlot& slot : plan.slots) {
    StoredSlot& to = out.slots.emplace_back();
    to.role = slot.role;
    to.index = slot.index;
    to.chips = slot.chips;
    to.uid = slot.uid;
    const Holding* held = plans.holding_of(slot);
    if (held == nullptr) continue;
    to.node = nodes.node(held->node).name;
    to.indices = nodes.node(held->node).topology.indices(held->chips);
  }
  return out;
}

void GangGates::check() {
  if (!authority_.cannot_decide().empty()) return;
  gangs_.restore();
  forget_gone();
  preemption_.check();
  for (const auto& [id, plan] : plans_.all()) {
    if (const Gang* gang = state_.gangs.find(id)) store(*gang);
  }
  for (const Waiting& one : in_order()) {
    const Gang& gang = *one.gang;
    if (!gangs_.on()) {
      open_unplanned(gang);
      continue;
    }
    if (plans_.find(gang.id) == nullptr && may_be_planned(gang) && !gangs_.plan_gated(gang)) {
      if (preemption_.may_begin(gang) && could_fit(gang)) preemption_.begin(gang);
      if (blocks(one)) break;
    }
    if (plans_.find(gang.id) != nullptr) {
      store(gang);
      open(gang);
    }
  }
}

void GangGates::forget_gone() {
  std::erase_if(progress_, [&](const auto& one) {
    const bool gone = state_.gangs.find(one.first) == nullptr;
    if (gone) store_->remove(one.first);
    return gone;
  });
  for (auto& [id, progress] : progress_) {
    if (progress.plan.empty() || plans_.find(id) != nullptr) continue;
    store_->remove(id);
    progress = Progress{};
  }
  std::erase_if(since_, [&](const auto& one) { return state_.gangs.find(one.first) == nullptr; });
  std::erase_if(openings_, [&](const auto& one) {
    return !one.second.asked && state_.gangs.of(one.first) == nullptr;
  });
}

std::vector<GangGates::Waiting> GangGates::in_order() {
  std::vector<Waiting> out;
  std::vector<std::string> opened;
  for (const std::string& id : gangs_.gated()) {
    const Gang* gang = state_.gangs.find(id);
    if (gang == nullptr) continue;
    Waiting one{0, {}, gang};
    bool gated = false;
    for (const ClusterPod* pod : gangs_.pods_of(*gang)) {
      gated = gated || pod->gated;
      one.priority = std::max(one.priority, pod->priority);
    }
    if (!gated) {
      opened.push_back(id);
      continue;
    }
    one.since = gang->complete() ? since_.try_emplace(id, clock_.now()).first->second
                                 : Clock::Steady::max();
    out.push_back(one);
  }
  for (const std::string& id : opened) gangs_.opened(id);
  std::sort(out.begin(), out.end(), [](const Waiting& a, const Waiting& b) {
    return std::tuple(-a.priority, a.since, a.gang->id) <
           std::tuple(-b.priority, b.since, b.gang->id);
  });
  return out;
}

// Pods with gates of others are not ready: what these wait for may change where the pods can run.
bool GangGates::may_be_planned(const Gang& gang) const {
  if (!gang.complete()) return false;
  std::size_t ready = 0;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    ready += pod != nullptr && !pod->foreign_gates ? 1 : 0;
  }
  return gang.complete(ready);
}

bool GangGates::could_fit(const Gang& gang) {
  Progress& progress = progress_[gang.id];
  if (!progress.could_fit || progress.gains != nodes_.gains()) {
    progress.could_fit = gangs_.could_fit(gang);
    progress.gains = nodes_.gains();
  }
  return *progress.could_fit;
}

// Whether later gangs wait for this one, which does not fit now.
bool GangGates::blocks(const Waiting& one) {
  return clock_.now() - one.since >= kPatience && could_fit(*one.gang);
}

void GangGates::store(const Gang& gang) {
  const GangPlan& plan = *plans_.find(gang.id);
  Progress& progress = progress_[gang.id];
  if (progress.plan != plan.id) {
    progress = Progress{};
    progress.plan = plan.id;
  }
  if (progress.storing || progress.asked == plan.version) return;
  progress.storing = true;
  progress.asked = plan.version;
  store_->put(
      stored_plan(plan, plans_, nodes_),
      [this, id = gang.id, of = plan.id, version = plan.version](const Result<void>& result) {
        const auto at = progress_.find(id);
        if (at == progress_.end() || at->second.plan != of) return;
        at->second.storing = false;
        // what cannot be stored does not keep its pods waiting
        const bool over = result || result.error().code != Errc::unavailable;
        if (over) at->second.stored = version;
        if (!over) at->second.asked = 0;
        if (!result) observer_.on(GangNotStored{id, of, result.error().text()});
      });
}

void GangGates::open(const Gang& gang) {
  if (progress_[gang.id].stored == 0) return;
  for (const ClusterPod* pod : gangs_.pods_of(gang)) {
    if (!pod->gated || pod->foreign_gates) continue;
    if (asked_ >= kMaxUngating) return;
    const GangPlans::Where at = plans_.assign(pod->request, gang.id);
    if (at.slot == nullptr || plans_.holding_of(*at.slot) == nullptr) {
      // one that came late
      (void)gangs_.plan_gated(gang);
      continue;
    }
    open(*pod, at);
  }
}

void GangGates::open_unplanned(const Gang& gang) {
  for (const ClusterPod* pod : gangs_.pods_of(gang)) {
    if (pod->gated && asked_ < kMaxUngating) open(*pod, Annotations{});
  }
}

void GangGates::open(const ClusterPod& pod, const GangPlans::Where& at) {
  const std::string& node = nodes_.node(plans_.holding_of(*at.slot)->node).name;
  open(pod, annotations_of(place_of(at, node, state_.network), node));
}

void GangGates::open(const ClusterPod& pod, Annotations annotations) {
  Opening& opening = openings_[pod.request.uid];
  if (opening.asked || clock_.now() < opening.next) return;
  opening.asked = true;
  ++asked_;
  const UngateOrder order{pod.request.key, pod.request.uid, std::move(annotations), std::nullopt};
  cluster_.ungate(order,
                  [this, uid = order.uid](const Result<void>& result) { opened(uid, result); });
}

void GangGates::opened(const std::string& uid, const Result<void>& result) {
  --asked_;
  const auto at = openings_.find(uid);
  if (at == openings_.end()) return;
  at->second.asked = false;
  if (result) {
    openings_.erase(at);
    return;
  }
  at->second.next = clock_.now() + at->second.refusals.next();
  observer_.on(GangGateFailed{uid, result.error().text()});
}

void GangGates::step_down() {
  preemption_.step_down();
  progress_.clear();
  since_.clear();
}

}  // namespace chipweave::sched
