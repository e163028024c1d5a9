#include "scheduler-plugin/app/speculative_reservations.hpp"

#include <algorithm>

namespace chipweave::sched {

bool SpeculativeReservations::is_bound(const std::string& uid) const {
  const Holding* holding = ledger_.find(uid);
  return holding != nullptr && holding->bound;
}

bool SpeculativeReservations::any_bound(const Attempt& attempt) const {
  return std::any_of(attempt.order.begin(), attempt.order.end(),
                     [&](const std::string& uid) { return is_bound(uid); });
}

bool SpeculativeReservations::is_planned(const Attempt& attempt) const {
  return std::any_of(attempt.order.begin(), attempt.order.end(), [&](const std::string& uid) {
    const Holding* holding = ledger_.find(uid);
    return holding != nullptr && holding->planned;
  });
}

bool SpeculativeReservations::ends_soon(const Attempt& attempt) const {
  return attempt.failed() || (attempt.unpromising() && !is_planned(attempt));
}

// A member is evaluated again: whether the others of its last attempt are being bound. Every
// attempt evaluates the members that wait in the same order, so one that was evaluated before this
// member, and not again now, does not wait any more.
bool SpeculativeReservations::others_are_bound_next(const Attempt& attempt,
                                                    const std::string& uid) const {
  if (any_bound(attempt)) return true;
  if (attempt.failed()) return false;
  for (const std::string& member : attempt.order) {
    if (member == uid) return false;
    if (ledger_.find(member) != nullptr) return true;
  }
  return false;
}

void SpeculativeReservations::clear(Attempt& attempt) {
  attempt.order.clear();
  attempt.members.clear();
  attempt.misfits.clear();
  attempt.unschedulable = false;
  attempt.current.clear();
}

void SpeculativeReservations::end(Attempt& attempt, Uids& ended) const {
  if (!any_bound(attempt)) {
    attempt.most_failed = std::max(attempt.most_failed, attempt.fitting());
    ended.insert(ended.end(), attempt.order.begin(), attempt.order.end());
  }
  clear(attempt);
}

// When expire() has something to do for it.
Clock::Steady SpeculativeReservations::due(const Attempt& attempt) const {
  return ends_soon(attempt) ? attempt.last + std::min(kFailedLifetime, ttl_) : attempt.extended;
}

// kube-scheduler filters a member twice in one attempt only if it did not fit on its nominated
// node.
bool SpeculativeReservations::begins_again(Verb verb, const Attempt& attempt,
                                           const std::string& uid) {
  if (!attempt.members.contains(uid)) return false;
  if (attempt.current != uid || attempt.unschedulable) return true;
  return verb == Verb::filter && !attempt.misfits.contains(uid);
}

SpeculativeReservations::Uids SpeculativeReservations::evaluated(Verb verb, const std::string& gang,
                                                                 const std::string& uid,
                                                                 Clock::Steady now) {
  Uids ended;
  const auto [it, fresh] = attempts_.try_emplace(gang);
  Attempt& attempt = it->second;
  if (fresh) attempt.extended = now + ttl_;
  if (begins_again(verb, attempt, uid)) {
    if (others_are_bound_next(attempt, uid)) {
      being_bound(gang);
    } else {
      end(attempt, ended);
    }
  }
  if (attempt.members.insert(uid).second) attempt.order.push_back(uid);
  attempt.misfits.erase(uid);
  attempt.current = uid;
  attempt.last = now;
  next_ = attempts_.size() == 1 ? due(attempt) : std::min(next_, due(attempt));
  return ended;
}

SpeculativeReservations::Uids SpeculativeReservations::end_failed(const std::string& gang) {
  Uids ended;
  for (auto& [name, attempt] : attempts_) {
    if (name != gang && attempt.failed()) end(attempt, ended);
  }
  return ended;
}

SpeculativeReservations::Uids SpeculativeReservations::end_unpromising(const std::string& gang) {
  Uids ended;
  for (auto& [name, attempt] : attempts_) {
    if (name != gang && attempt.unpromising()) end(attempt, ended);
  }
  return ended;
}

SpeculativeReservations::Uids SpeculativeReservations::end_all() {
  Uids ended;
  for (auto& [name, attempt] : attempts_) end(attempt, ended);
  attempts_.clear();
  return ended;
}

void SpeculativeReservations::fits_nowhere(const std::string& gang, const std::string& uid) {
  const auto it = attempts_.find(gang);
  if (it == attempts_.end() || !it->second.members.contains(uid)) return;
  it->second.misfits.insert(uid);
  next_ = std::min(next_, due(it->second));
}

void SpeculativeReservations::unschedulable(const std::string& gang, const std::string& uid) {
  const auto it = attempts_.find(gang);
  if (it == attempts_.end() || !it->second.members.contains(uid)) return;
  it->second.unschedulable = true;
  next_ = std::min(next_, due(it->second));
}

void SpeculativeReservations::being_bound(const std::string& gang) {
  const auto it = attempts_.find(gang);
  if (it == attempts_.end()) return;
  clear(it->second);
  it->second.most_failed = 0;
}

SpeculativeReservations::Uids SpeculativeReservations::expire(Clock::Steady now) {
  Uids ended;
  if (attempts_.empty() || now < next_) return ended;
  next_ = Clock::Steady::max();
  for (auto it = attempts_.begin(); it != attempts_.end();) {
    Attempt& attempt = it->second;
    const Clock::Steady over = attempt.last + ttl_;
    if (ends_soon(attempt) && due(attempt) <= now) end(attempt, ended);
    if (over <= now) {
      it = attempts_.erase(it);
      continue;
    }
    if (attempt.extended <= now) {
      for (const std::string& uid : attempt.order) {
        const Holding* held = ledger_.find(uid);
        if (held != nullptr && held->expires < over) ledger_.extend(uid, over);
      }
      attempt.extended = over;
      if (any_bound(attempt)) being_bound(it->first);
    }
    next_ = std::min(next_, due(attempt));
    ++it;
  }
  return ended;
}

}  // namespace chipweave::sched
