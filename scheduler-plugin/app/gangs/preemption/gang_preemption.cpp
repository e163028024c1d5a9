#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/count_of.hpp"

namespace chipweave::sched {
namespace {

constexpr const char* kInVain = "it would not fit if all pods of lower priority that may end did";
constexpr const char* kKeptByBudgets =
    "PodDisruptionBudgets keep the pods that would have to end for it";
constexpr std::chrono::seconds kTryEvery{1};     // whether it fits without further victims
constexpr std::chrono::minutes kKeepsLonger{1};  // than the attempt, which ends what it keeps

}  // namespace

GangPreemption::Conditions GangPreemption::conditions_of(const Gang& gang) const {
  return {gang.changes, state_.room_version(), ledger_.bound(), state_.stored};
}

int GangPreemption::priority_of(const Gang& gang) const {
  int out = std::numeric_limits<int>::min();
  for (const ClusterPod* pod : gangs_.pods_of(gang)) out = std::max(out, pod->priority);
  return out;
}

bool GangPreemption::may_begin(const Gang& gang) const {
  if (evictions_ == nullptr || attempt_ || begun_) return false;
  const auto pods = gangs_.pods_of(gang);
  if (pods.empty() ||
      !std::all_of(pods.begin(), pods.end(), [](const auto* pod) { return pod->may_preempt; }))
    return false;
  const auto failure = failures_.find(gang.id);
  if (failure == failures_.end()) return true;
  return clock_.now() - failure->second.at >= kRest &&
         (failure->second.may_pass || failure->second.conditions != conditions_of(gang));
}

bool GangPreemption::begin(const Gang& gang, const KeptChips::ByNode& kept) {
  Attempt& attempt = *(attempt_ = Attempt());
  attempt.gang = gang.id;
  attempt.priority = priority_of(gang);
  attempt.until = clock_.now() + kLifetime;
  begun_ = true;
  if (is_in_vain(gang, kept)) {
    give_up(gang, kInVain, false);
    return false;
  }
  read_budgets();
  return true;
}

bool GangPreemption::is_in_vain(const Gang& gang, const KeptChips::ByNode& kept) {
  const auto trial = gangs_.planning().trial_of(gang);
  if (!trial) return true;
  FreedSum freed = coming_free();
  freed.add(kept);
  for (const VictimUnit& unit :
       units_.candidates(gang, attempt_->priority, trial->layout.resource, {}))
    freed.add(unit);
  return !gangs_.planning().try_with(*trial, freed.result(state_)).fits;
}

void GangPreemption::read_budgets() {
  attempt_->serial = ++attempts_;
  attempt_->phase = Phase::budgets;
  attempt_->search.reset();
  const std::set<std::string> namespaces = units_.namespaces_below(attempt_->priority);
  if (namespaces.empty()) return budgets_read(attempt_->serial, Evictions::Budgets());
  evictions_->budgets(namespaces,
                      [this, serial = attempt_->serial](Result<Evictions::Budgets> read) {
                        budgets_read(serial, std::move(read));
                      });
}

void GangPreemption::budgets_read(std::uint64_t serial, Result<Evictions::Budgets> budgets) {
  if (!attempt_ || attempt_->serial != serial || attempt_->phase != Phase::budgets) return;
  if (!budgets) {
    if (const Gang* gang = state_.gangs.find(attempt_->gang))
      give_up(*gang, "the PodDisruptionBudgets cannot be read: " + budgets.error().text(), true);
    return;
  }
  attempt_->budgets = *std::move(budgets);
  attempt_->phase = Phase::search;
}

void GangPreemption::check() {
  std::erase_if(failures_,
                [&](const auto& one) { return state_.gangs.find(one.first) == nullptr; });
  begun_ = false;
  if (!attempt_) return;
  const Gang* gang = state_.gangs.find(attempt_->gang);
  const bool waits = gang != nullptr && gangs_.on() && gang->complete() &&
                     !gangs_.pods_of(*gang).empty() && plans_.find(gang->id) == nullptr;
  if (!waits) return end();
  if (clock_.now() >= attempt_->until)
    return give_up(*gang, "not all pods that had to end for it have ended in time", true);
  if (attempt_->phase == Phase::search) search(*gang);
  if (attempt_ && attempt_->phase == Phase::keep) go_on_keeping(*gang);
}

// --- the search

// Without the rest of the victims: what ends already, and what is kept.
FreedSum GangPreemption::coming_free() const {
  FreedSum out = units_.coming_free(attempt_->priority);
  out.add(kept_.kept());
  return out;
}

void GangPreemption::begin_search(const Gang& gang) {
  auto trial = gangs_.planning().trial_of(gang);
  if (!trial) return give_up(gang, trial.error().text(), false);
  attempt_->changes = gang.changes;
  attempt_->trial = *trial;
  auto units =
      units_.candidates(gang, attempt_->priority, trial->layout.resource, attempt_->budgets);
  std::vector<int> allowed;
  for (const DisruptionBudget& budget : attempt_->budgets) allowed.push_back(budget.allowed);
  attempt_->search = std::make_unique<GangSearch>(*std::move(trial), coming_free(),
                                                  std::move(units), std::move(allowed));
}

void GangPreemption::search(const Gang& gang) {
  if (!victims_.is_settled()) return;
  if (attempt_->search != nullptr && attempt_->changes != gang.changes)
    return restart(gang, "its pods keep changing");
  if (attempt_->search == nullptr) begin_search(gang);
  if (attempt_ && !attempt_->search->go_on(gangs_.planning(), state_, clock_)) chosen(gang);
}

// Everything again, as it is now.
void GangPreemption::chosen(const Gang& gang) {
  if (!attempt_->search->victims().result()) {
    const bool none = attempt_->budgets.empty();
    return give_up(gang, none ? kInVain : kKeptByBudgets, !none);
  }
  FreedSum freed = coming_free();
  for (const VictimUnit* unit : attempt_->search->found()) {
    for (const VictimPod& pod : unit->pods) {
      if (units_.ends(pod)) continue;
      if (!units_.holds(pod)) return restart(gang, "its victims keep changing");
      freed.add(pod.node, pod.chips, pod.use);
    }
  }
  const GangPlacement placement = gangs_.planning().try_with(attempt_->trial, freed.result(state_));
  if (!placement.fits) return restart(gang, "what its victims would free is taken by others");
  keep(gang, placement);
}

// --- the chips

void GangPreemption::keep(const Gang& gang, const GangPlacement& placement) {
  const std::vector<NodeId> used = placement.nodes();
  std::vector<const VictimUnit*> units = attempt_->search->found();
  // more may be free now than when the search began
  std::erase_if(units, [&](const VictimUnit* unit) {
    return std::none_of(unit->pods.begin(), unit->pods.end(), [&](const VictimPod& pod) {
      return std::binary_search(used.begin(), used.end(), pod.node);
    });
  });
  victims_.begin(ref_of(gang).text(), units);
  KeptChips::ByNode wanted;
  for (std::size_t i = 0; i < placement.seats.size(); ++i) {
    const GangSeat& seat = placement.seats[i];
    if (!attempt_->trial.seated[i] && seat.node != kNoNode) wanted[seat.node] |= seat.chips;
  }
  attempt_->search.reset();
  attempt_->phase = Phase::keep;
  attempt_->tried = conditions_of(gang);
  attempt_->tried_at = clock_.now();
  kept_.want(gang.id, {gang.ns, gang.name}, wanted, attempt_->until + kKeepsLonger);
  if (victims_.pods() == 0) return;
  attempt_->reported = true;
  observer_.on(victims_.announced_for(ref_of(gang)));
}

FreedOnNodes GangPreemption::kept_only() const {
  FreedSum out;
  out.add(kept_.kept());
  return out.result(state_);
}

void GangPreemption::go_on_keeping(const Gang& gang) {
  if (!victims_.refused().empty()) return give_up(gang, victims_.refused(), true);
  kept_.take_all();
  if (attempt_->changes != gang.changes) {
    auto trial = gangs_.planning().trial_of(gang);
    if (!trial) return give_up(gang, trial.error().text(), false);
    attempt_->trial = *std::move(trial);
    attempt_->changes = gang.changes;
  }
  if (!kept_.usable() || !victims_.frees(kept_.missing()))
    return restart(gang, "what it waited for cannot be had any more");
  if (kept_.missing().empty()) {
    if (!plan_now(gang)) restart(gang, "it does not fit, although the pods have ended");
    return;
  }
  const Conditions now = conditions_of(gang);
  if (now != attempt_->tried && clock_.now() - attempt_->tried_at >= kTryEvery) {
    attempt_->tried = now;
    attempt_->tried_at = clock_.now();
    if (plan_now(gang)) return;
  }
  victims_.go_on();
}

// False: it does not fit on what is kept, and free.
bool GangPreemption::plan_now(const Gang& gang) {
  if (!gangs_.planning().try_with(attempt_->trial, kept_only()).fits) return false;
  kept_.end();
  gangs_.planning().forget(gang.id);
  if (gangs_.plan_gated(gang)) {
    failures_.erase(gang.id);
    end();
  } else {
    give_up(gang, "it was not planned, although it fits", true);
  }
  return true;
}

// --- the end

void GangPreemption::restart(const Gang& gang, const char* why) {
  if (++attempt_->restarts > kMaxRestarts) return give_up(gang, why, true);
  read_budgets();
}

void GangPreemption::give_up(const Gang& gang, std::string why, bool may_pass) {
  const auto known = failures_.find(gang.id);
  const bool begun = attempt_->reported;
  if (begun || known == failures_.end() || known->second.why != why)
    observer_.on(GangNotPreempting{ref_of(gang), why, begun});
  end();
  failures_.insert_or_assign(gang.id,
                             Failure{conditions_of(gang), clock_.now(), may_pass, std::move(why)});
}

void GangPreemption::end() {
  const bool kept = !kept_.kept().empty();
  kept_.end();
  victims_.end();
  if (kept) ++state_.freed;
  attempt_.reset();
}

void GangPreemption::step_down() {
  kept_.end();
  victims_.end();
  attempt_.reset();
  failures_.clear();
}

std::string GangPreemption::why(const std::string& gang) const {
  if (!attempt_ || attempt_->gang != gang) return {};
  if (attempt_->phase != Phase::keep) return "looks for pods of lower priority that may end for it";
  auto [pods, gangs] = victims_.left();
  for (const auto& [node, chips] : kept_.missing()) {
    for (const Holding* held : ledger_.on(node)) {
      if (held->bound && held->chips.intersects(chips)) pods.insert(held->uid);
    }
  }
  return "waits for " + count_of(pods.size(), "pod") +
         (gangs.empty() ? std::string() : " of " + count_of(gangs.size(), "gang")) + " to end";
}

std::string GangPreemption::why_not(const std::string& gang) const {
  const auto failure = failures_.find(gang);
  return failure == failures_.end() ? std::string() : failure->second.why;
}

}  // namespace chipweave::sched
