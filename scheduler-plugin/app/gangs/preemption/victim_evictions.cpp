#include "scheduler-plugin/app/gangs/preemption/victim_evictions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace chipweave::sched {

void VictimEvictions::begin(std::string for_gang, const std::vector<const VictimUnit*>& units) {
  end();
  round_ = std::make_shared<Round>();
  round_->for_gang = std::move(for_gang);
  for (const VictimUnit* unit : units) {
    for (const VictimPod& pod : unit->pods) {
      if (units_.ends(pod)) continue;
      Victim& victim = victims_.emplace_back();
      victim.pod = pod;
      victim.gang = unit->gang;
      if (victim.gang) ++round_->pods[victim.gang->text()];
      uids_.insert(pod.uid);
    }
  }
}

void VictimEvictions::end() {
  round_.reset();
  victims_.clear();
  uids_.clear();
  asked_ = 0;
  refused_.clear();
}

void VictimEvictions::go_on() {
  for (Victim& victim : victims_) {
    if (asked_ >= kMaxEvicting || !refused_.empty()) return;
    if (victim.evicted || victim.asked || clock_.now() < victim.next || units_.ends(victim.pod))
      continue;
    evict(victim);
  }
}

void VictimEvictions::evict(Victim& victim) {
  victim.asked = true;
  ++asked_;
  evictions_->evict(victim.pod.key, victim.pod.uid, Grace::usual,
                    [this, round = round_, pod = victim.pod.key, uid = victim.pod.uid,
                     gang = victim.gang](const Result<void>& result) {
                      evicted(round.get(), uid, result);
                      if (result) report_end(*round, pod, uid, gang);
                    });
}

void VictimEvictions::evicted(const Round* round, const std::string& uid,
                              const Result<void>& result) {
  if (round != round_.get()) return;
  const auto at = std::find_if(victims_.begin(), victims_.end(),
                               [&](const Victim& victim) { return victim.pod.uid == uid; });
  at->asked = false;
  --asked_;
  at->evicted = result.ok();
  if (result) return;
  at->next = clock_.now() + at->refusals.next();
  if (result.error().code == Errc::invalid_argument) refused_ = result.error().text();
}

void VictimEvictions::report_end(Round& round, const PodKey& pod, const std::string& uid,
                                 const std::optional<GangRef>& gang) {
  observer_.on(PodPreempted{pod, uid, round.for_gang});
  if (!gang || !round.reported.insert(gang->text()).second) return;
  observer_.on(GangPreempted{*gang, round.pods[gang->text()], round.for_gang});
}

bool VictimEvictions::is_settled() const {
  return asked_ == 0 && std::all_of(victims_.begin(), victims_.end(), [&](const Victim& victim) {
           return !victim.evicted || units_.ends(victim.pod);
         });
}

GangPreempting VictimEvictions::announced_for(GangRef gang) const {
  std::map<std::pair<bool, std::string>, std::size_t> pods;  // by whether it is a gang, and name
  for (const Victim& victim : victims_) {
    const bool of_gang = victim.gang.has_value();
    ++pods[{of_gang, of_gang ? victim.gang->text() : victim.pod.key.text()}];
  }
  GangPreempting out{std::move(gang), victims_.size(), 0, {}};
  for (const auto& [victim, count] : pods) {
    out.gangs += victim.first ? 1 : 0;
    out.victims.push_back({victim.second, victim.first, count});
  }
  return out;
}

bool VictimEvictions::frees(const KeptChips::ByNode& chips) const {
  return std::all_of(chips.begin(), chips.end(), [&](const auto& one) {
    ChipSet left = one.second;
    for (const Holding* held : ledger_.on(one.first)) {
      const ClusterPod* pod = cluster_.find(held->key);
      const bool ends = pod != nullptr && pod->request.uid == held->uid && pod->ending;
      if (held->bound && (ends || uids_.contains(held->uid))) left -= held->chips;
    }
    return left.empty();
  });
}

VictimEvictions::Left VictimEvictions::left() const {
  Left out;
  for (const Victim& victim : victims_) {
    if (ledger_.find(victim.pod.uid) == nullptr) continue;
    out.pods.insert(victim.pod.uid);
    if (victim.gang) out.gangs.insert(victim.gang->text());
  }
  return out;
}

}  // namespace chipweave::sched
