#include "scheduler-plugin/app/gangs/gang_gates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

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

GangGates::GangGates(Core& core, Gangs& gangs, GangPreemption& preemption, GangKeeping& keeping,
                     PlanStore& store, Options options)
    : UseCase(core),
      gangs_(gangs),
      preemption_(preemption),
      keeping_(keeping),
      store_(&store),
      options_(std::move(options)),
      opener_(core, gangs.nominations(),
              [this](const std::string& gang) { gangs_.gate_opened(gang); }) {
  opener_.set_pinned(options_.pinned_schedulers);
  keeping_.set_after(options_.keep_after);
}

void GangGates::check() {
  if (!authority_.cannot_decide().empty()) return;
  gangs_.restore();
  forget_gone();
  preemption_.check();
  for (const auto& [id, plan] : plans_.all()) {
    if (const Gang* gang = state_.gangs.find(id)) store(*gang);
  }
  open_strays();
  const auto begin = clock_.now();
  const std::optional<Place> from = std::exchange(resume_, std::nullopt);
  const auto is_later = [&from](const Waiting& one) {
    if (!from) return false;
    const auto& [priority, since, id] = *from;
    return one.place() < std::tuple(priority, since, std::string_view(id));
  };
  bool first = true;  // in line
  bool keeps = false;
  for (const Waiting& one : in_order()) {
    const Gang& gang = *one.gang;
    if (is_let_go(one)) {
      open_unplanned(one);
      continue;
    }
    if (plans_.find(gang.id) == nullptr && gang.complete(one.members->ready) &&
        (is_later(one) || !try_plan(one, begin))) {
      if (preemption_.may_begin(gang) && could_fit(gang) &&
          preemption_.begin(gang, keeping_.kept_for(gang.id)))
        keeping_.end();
      keeps = keep_chips(one, first) || keeps;
      if (plans_.find(gang.id) == nullptr && blocks(one)) break;
    }
    if (plans_.find(gang.id) != nullptr) {
      store(gang);
      open(one);
    }
  }
  if (!keeps) keeping_.end();
  gangs_.nominations().check();
}

// Whether chips are kept for the gang, which does not fit. first: whether it may be the first in
// line; afterwards whether the next one may be, because this one could never run.
bool GangGates::keep_chips(const Waiting& one, bool& first) {
  if (!first) return false;
  const bool due = keeping_.is_due(waited(one));
  first = due && !could_fit(*one.gang);
  if (!due || first || preemption_.is_for(one.gang->id)) return false;
  return !keeping_.go_on(*one.gang);
}

Clock::Steady::duration GangGates::waited(const Waiting& one) const {
  return one.members->complete ? clock_.now() - *one.members->complete
                               : Clock::Steady::duration::zero();
}

// Whether it has a plan now.
bool GangGates::try_plan(const Waiting& one, Clock::Steady begin) {
  if (resume_) return false;
  if (clock_.now() - begin < kPlanningTime) return gangs_.plan_gated(*one.gang);
  const auto [priority, since, id] = one.place();
  resume_ = Place(priority, since, id);
  return false;
}

// Whether no plan is made for it, or not any more.
bool GangGates::is_let_go(const Waiting& one) const {
  if (!gangs_.on()) return true;
  if (!gangs_.plans(*one.gang))
    return one.gang->size_known() || clock_.now() - one.members->seen >= kSizeComes;
  return options_.timeout.count() > 0 && plans_.find(one.gang->id) == nullptr &&
         one.members->complete && clock_.now() - *one.members->complete >= options_.timeout;
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
  std::erase_if(members_, [&](const auto& one) { return !gangs_.gated().contains(one.first); });
  opener_.forget_gone();
}

std::tuple<int, Clock::Steady, std::string_view> GangGates::Waiting::place() const {
  return {-members->priority, members->complete.value_or(Clock::Steady::max()), gang->id};
}

std::vector<GangGates::Waiting> GangGates::in_order() {
  std::vector<Waiting> out;
  std::vector<std::string> opened;
  for (const auto& [id, gates] : gangs_.gated()) {
    const Gang* gang = state_.gangs.find(id);
    if (gang == nullptr) continue;
    Members& members = members_[id];
    look(*gang, gates, members);
    if (members.gated == 0) {
      opened.push_back(id);
    } else {
      out.push_back({gang, &members});
    }
  }
  for (const std::string& id : opened) gangs_.opened(id);
  std::sort(out.begin(), out.end(),
            [](const Waiting& a, const Waiting& b) { return a.place() < b.place(); });
  return out;
}

// Pods with gates of others are not ready: what these wait for may change where the pods can run.
void GangGates::look(const Gang& gang, std::uint64_t gates, Members& members) const {
  if (members.changes == gang.changes && members.gates == gates) return;
  if (members.changes == 0) members.seen = clock_.now();
  members.changes = gang.changes;
  members.gates = gates;
  members.gated = members.ready = 0;
  members.again = true;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod == nullptr || pod->request.uid != uid) continue;
    members.priority = std::max(members.priority, pod->priority);
    members.ready += pod->foreign_gates ? 0 : 1;
    members.gated += pod->gated && !pod->ending ? 1 : 0;
  }
  if (!gang.complete()) {
    members.complete.reset();
  } else if (!members.complete) {
    members.complete = clock_.now();
  }
}

bool GangGates::could_fit(const Gang& gang) {
  Progress& progress = progress_[gang.id];
  const std::uint64_t standings = state_.standings.version();
  if (!progress.could_fit || progress.gains != nodes_.gains() || progress.standings != standings) {
    progress.could_fit = gangs_.could_fit(gang);
    progress.gains = nodes_.gains();
    progress.standings = standings;
  }
  return *progress.could_fit;
}

// Whether later gangs wait for this one, which does not fit now.
bool GangGates::blocks(const Waiting& one) {
  return one.members->complete && waited(one) >= kPatience && could_fit(*one.gang);
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

void GangGates::open(const Waiting& one) {
  const Gang& gang = *one.gang;
  Members& members = *one.members;
  const GangPlan& plan = *plans_.find(gang.id);
  if (progress_[gang.id].stored == 0) return;
  if (!members.again && members.opened == plan.version) return;
  members.again = false;
  gangs_.assign_gated(gang);
  bool planned = false;  // again, for one that came late
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod == nullptr || pod->request.uid != uid || !pod->gated || pod->foreign_gates) continue;
    const bool no_chips = pod->request.chips == 0;
    GangPlans::Where at = plans_.assign(pod->request, gang.id);
    const auto has_place = [&] {
      return at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr;
    };
    if (!no_chips && !has_place() && !std::exchange(planned, true)) {
      (void)gangs_.plan_gated(gang);
      if (plans_.find(gang.id) == nullptr) return;
      at = plans_.of(uid);
    }
    const bool asked = (no_chips || has_place()) && opener_.open(*pod, gang.id, no_chips);
    members.again = members.again || !asked;
  }
  members.opened = plan.version;
}

void GangGates::open_unplanned(const Waiting& one) {
  if (!one.members->again) return;
  one.members->again = false;
  for (const auto& [uid, key] : one.gang->members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod == nullptr || pod->request.uid != uid || !pod->gated || pod->foreign_gates) continue;
    if (!opener_.open(*pod, one.gang->id, true)) one.members->again = true;
  }
}

void GangGates::open_strays() {
  std::vector<std::string> opened;
  for (const auto& [uid, key] : gangs_.strays()) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod == nullptr || pod->request.uid != uid || !pod->gated) {
      opened.push_back(uid);
    } else if (!pod->foreign_gates) {
      (void)opener_.open(*pod, {}, true);
    }
  }
  for (const std::string& uid : opened) gangs_.forget_stray(uid);
}

void GangGates::step_down() {
  preemption_.step_down();
  keeping_.end();
  progress_.clear();
  members_.clear();
  resume_.reset();
  opener_.step_down();
}

}  // namespace chipweave::sched
