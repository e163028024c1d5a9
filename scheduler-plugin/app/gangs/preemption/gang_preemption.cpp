#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kTryEvery{1};     // whether the gang fits without further victims
constexpr std::chrono::minutes kKeepsLonger{1};  // than the attempt, which ends what it keeps

std::string count_of(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::vector<NodeId> nodes_of(const GangPlacement& placement) {
  std::vector<NodeId> out;
  for (const GangSeat& seat : placement.seats) {
    if (seat.node != kNoNode) out.push_back(seat.node);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

GangPreemption::Conditions GangPreemption::conditions_of(const Gang& gang) const {
  return {gang.changes,    ledger_.released(), nodes_.gains(), state_.network.version(),
          ledger_.bound(), state_.stored};
}

int GangPreemption::priority_of(const Gang& gang) const {
  int out = std::numeric_limits<int>::min();
  for (const ClusterPod* pod : gangs_.pods_of(gang)) out = std::max(out, pod->priority);
  return out;
}

bool GangPreemption::may_begin(const Gang& gang) const {
  if (evictions_ == nullptr || attempt_ || begun_) return false;
  const auto pods = gangs_.pods_of(gang);
  const bool may = !pods.empty() && std::all_of(pods.begin(), pods.end(),
                                                [](const auto* pod) { return pod->may_preempt; });
  if (!may) return false;
  const auto failure = failures_.find(gang.id);
  if (failure == failures_.end()) return true;
  return clock_.now() - failure->second.at >= kRest &&
         (failure->second.may_pass || failure->second.conditions != conditions_of(gang));
}

void GangPreemption::begin(const Gang& gang) {
  Attempt& attempt = attempt_.emplace();
  attempt.id = ++attempts_;
  attempt.gang = gang.id;
  attempt.priority = priority_of(gang);
  attempt.until = clock_.now() + kLifetime;
  begun_ = true;
  if (is_in_vain(gang)) {
    return give_up(gang, "it would not fit if all pods of lower priority that may end did", false);
  }
  read_budgets();
}

bool GangPreemption::is_in_vain(const Gang& gang) {
  const auto trial = gangs_.planning().trial_of(gang);
  if (!trial) return true;
  FreedSum freed = coming_free();
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
  for (const auto& [node, chips] : kept_.kept()) out.add(node, chips, {});
  return out;
}

void GangPreemption::begin_search(const Gang& gang) {
  auto trial = gangs_.planning().trial_of(gang);
  if (!trial) return give_up(gang, trial.error().text(), false);
  attempt_->changes = gang.changes;
  attempt_->coming = coming_free();
  auto units =
      units_.candidates(gang, attempt_->priority, trial->layout.resource, attempt_->budgets);
  attempt_->trial = *std::move(trial);
  std::vector<int> allowed;
  for (const DisruptionBudget& budget : attempt_->budgets) allowed.push_back(budget.allowed);
  attempt_->search = std::make_unique<GangVictims>(std::move(units), std::move(allowed));
}

void GangPreemption::search(const Gang& gang) {
  // those of an earlier search that the cluster does not show as ending yet
  const bool unseen =
      std::any_of(attempt_->victims.begin(), attempt_->victims.end(), [&](const Victim& victim) {
        return victim.asked || (victim.evicted && !units_.ends(victim.pod));
      });
  if (unseen) return;
  if (attempt_->search != nullptr && attempt_->changes != gang.changes)
    return restart(gang, "its pods keep changing");
  if (attempt_->search == nullptr) begin_search(gang);
  if (!attempt_) return;
  GangVictims& search = *attempt_->search;
  const Clock::Steady begin = clock_.now();
  for (int trials = 0; trials < kMaxTrials; ++trials) {
    const GangVictims::Set* asked = search.question();
    if (asked == nullptr) return chosen(gang);
    FreedSum freed = attempt_->coming;
    for (const std::size_t unit : *asked) freed.add(search.units()[unit]);
    const GangPlacement placement =
        gangs_.planning().try_with(attempt_->trial, freed.result(state_));
    search.answer(placement.fits ? std::optional(nodes_of(placement)) : std::nullopt);
    if (clock_.now() - begin >= kSlice) return;
  }
}

std::string GangPreemption::no_victims() const {
  return attempt_->budgets.empty()
             ? "it would not fit if all pods of lower priority that may end did"
             : "PodDisruptionBudgets keep the pods that would have to end for it";
}

// Everything again, as it is now.
void GangPreemption::chosen(const Gang& gang) {
  const GangVictims& search = *attempt_->search;
  if (!search.result()) return give_up(gang, no_victims(), !attempt_->budgets.empty());
  FreedSum freed = coming_free();
  for (const std::size_t unit : *search.result()) {
    for (const VictimPod& pod : search.units()[unit].pods) {
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
  const std::vector<NodeId> used = nodes_of(placement);
  const GangVictims& search = *attempt_->search;
  std::set<std::string> gangs;
  attempt_->victims.clear();
  for (const std::size_t unit : *search.result()) {
    const VictimUnit& victims = search.units()[unit];
    // more may be free now than when the search began
    const bool needed =
        std::any_of(victims.pods.begin(), victims.pods.end(), [&](const VictimPod& pod) {
          return std::binary_search(used.begin(), used.end(), pod.node);
        });
    for (const VictimPod& pod : victims.pods) {
      if (!needed || units_.ends(pod)) continue;
      Victim& victim = attempt_->victims.emplace_back();
      victim.pod = pod;
      victim.gang = victims.gang;
      if (!victims.gang.empty()) gangs.insert(victims.gang);
    }
  }
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
  if (!attempt_->victims.empty())
    observer_.on(GangPreempting{gang.ns, gang.name, attempt_->victims.size(), gangs.size()});
}

FreedOnNodes GangPreemption::kept_only() const {
  FreedSum out;
  for (const auto& [node, chips] : kept_.kept()) out.add(node, chips, {});
  return out.result(state_);
}

// Whether all that is wanted is kept, or comes free.
bool GangPreemption::can_be_had() const {
  if (!kept_.usable()) return false;
  std::set<std::string_view> victims;
  for (const Victim& victim : attempt_->victims) victims.insert(victim.pod.uid);
  const auto missing = kept_.missing();
  return std::all_of(missing.begin(), missing.end(), [&](const auto& one) {
    ChipSet left = one.second;
    for (const Holding* held : ledger_.on(one.first)) {
      const ClusterPod* pod = cluster_.find(held->key);
      const bool ends = pod != nullptr && pod->request.uid == held->uid && pod->ending;
      if (held->bound && (ends || victims.contains(held->uid))) left -= held->chips;
    }
    return left.empty();
  });
}

void GangPreemption::go_on_keeping(const Gang& gang) {
  kept_.take_all();
  if (attempt_->changes != gang.changes) {
    auto trial = gangs_.planning().trial_of(gang);
    if (!trial) return give_up(gang, trial.error().text(), false);
    attempt_->trial = *std::move(trial);
    attempt_->changes = gang.changes;
  }
  if (!can_be_had()) return restart(gang, "what it waited for cannot be had any more");
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
  evict_more();
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

// --- the victims

void GangPreemption::evict_more() {
  const std::uint64_t id = attempt_->id;
  // an answer may come at once, and end the attempt
  for (std::size_t i = 0; attempt_ && attempt_->id == id && i < attempt_->victims.size(); ++i) {
    if (attempt_->evicting >= kMaxEvicting) return;
    Victim& victim = attempt_->victims[i];
    if (victim.evicted || victim.asked || clock_.now() < victim.next || units_.ends(victim.pod))
      continue;
    evict(victim);
  }
}

void GangPreemption::evict(Victim& victim) {
  victim.asked = true;
  ++attempt_->evicting;
  const VictimPod pod = victim.pod;
  evictions_->evict(pod.key, pod.uid,
                    [this, id = attempt_->id, uid = pod.uid](const Result<void>& result) {
                      evicted(id, uid, result);
                    });
}

void GangPreemption::evicted(std::uint64_t id, const std::string& uid, const Result<void>& result) {
  if (!attempt_ || attempt_->id != id) return;
  const auto at = std::find_if(attempt_->victims.begin(), attempt_->victims.end(),
                               [&](const Victim& victim) { return victim.pod.uid == uid; });
  if (at == attempt_->victims.end() || !at->asked) return;
  at->asked = false;
  --attempt_->evicting;
  at->evicted = result.ok();
  const Gang* gang = state_.gangs.find(attempt_->gang);
  if (result) {
    const std::string preempting = gang == nullptr ? attempt_->gang : gang->ns + "/" + gang->name;
    observer_.on(PodPreempted{at->pod.key, uid, preempting});
    return;
  }
  at->next = clock_.now() + at->refusals.next();
  if (result.error().code == Errc::invalid_argument && gang != nullptr)
    give_up(*gang, result.error().text(), true);
}

// --- the end

void GangPreemption::restart(const Gang& gang, const char* why) {
  if (++attempt_->restarts > kMaxRestarts) return give_up(gang, why, true);
  read_budgets();
}

void GangPreemption::give_up(const Gang& gang, std::string why, bool may_pass) {
  const auto known = failures_.find(gang.id);
  if (known == failures_.end() || known->second.why != why)
    observer_.on(GangNotPreempting{gang.ns, gang.name, why});
  end();
  failures_.insert_or_assign(gang.id,
                             Failure{conditions_of(gang), clock_.now(), may_pass, std::move(why)});
}

void GangPreemption::end() {
  const bool kept = !kept_.kept().empty();
  kept_.end();
  if (kept) ++state_.freed;
  attempt_.reset();
}

void GangPreemption::step_down() {
  kept_.end();
  attempt_.reset();
  failures_.clear();
}

std::string GangPreemption::why(const std::string& gang) const {
  if (!attempt_ || attempt_->gang != gang) return {};
  if (attempt_->phase != Phase::keep) return "looks for pods of lower priority that may end for it";
  std::set<std::string_view> pods;
  std::set<std::string_view> gangs;
  for (const Victim& victim : attempt_->victims) {
    if (ledger_.find(victim.pod.uid) == nullptr) continue;
    pods.insert(victim.pod.uid);
    if (!victim.gang.empty()) gangs.insert(victim.gang);
  }
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
