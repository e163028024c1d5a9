#include "scheduler-plugin/app/speculative_reservations.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

std::vector<std::string> SpeculativeReservations::asked(const std::string& gang,
                                                        const std::string& uid, Clock::Steady now) {
  const auto [it, fresh] = speculative_.try_emplace(gang);
  Try& t = it->second;
  std::vector<std::string> earlier;
  if (t.current != uid && t.members.contains(uid)) {
    const std::set<std::string> before = std::exchange(t.members, {});
    earlier.assign(before.begin(), before.end());
  }
  if (fresh) {
    t.prolonged = now + kLifetime;
    next_ = speculative_.size() == 1 ? t.prolonged : std::min(next_, t.prolonged);
  }
  t.members.insert(uid);
  t.current = uid;
  t.last = now;
  return earlier;
}

std::vector<std::string> SpeculativeReservations::end_others(const std::string& gang) {
  std::vector<std::string> left;
  for (auto it = speculative_.begin(); it != speculative_.end();) {
    if (it->first == gang) {
      ++it;
      continue;
    }
    left.insert(left.end(), it->second.members.begin(), it->second.members.end());
    it = speculative_.erase(it);
  }
  return left;
}

void SpeculativeReservations::prolong(Clock::Steady now) {
  if (speculative_.empty() || now < next_) return;
  next_ = Clock::Steady::max();
  for (auto it = speculative_.begin(); it != speculative_.end();) {
    Try& t = it->second;
    const Clock::Steady end = t.last + kLifetime;
    if (end <= now) {
      it = speculative_.erase(it);
      continue;
    }
    if (t.prolonged <= now) {
      for (const std::string& uid : t.members) ledger_.extend(uid, end);
      t.prolonged = end;
    }
    next_ = std::min(next_, t.prolonged);
    ++it;
  }
}

}  // namespace chipweave::sched
