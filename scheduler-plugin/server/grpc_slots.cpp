#include "scheduler-plugin/server/grpc_slots.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace chipweave::sched {

bool MessageSlots::acquire(std::shared_ptr<SlotHolder> call) {
  const std::lock_guard lock(mutex_);
  if (granted_.size() >= slots_) {
    waiting_.push_back(std::move(call));
    return false;
  }
  const SlotHolder* key = call.get();
  granted_.emplace(key, Granted{std::move(call), Steady::now()});
  return true;
}

void MessageSlots::release(const SlotHolder* call) {
  std::shared_ptr<SlotHolder> last;  // destroyed after the lock is released
  std::shared_ptr<SlotHolder> next;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = granted_.find(call); found != granted_.end()) {
      last = std::move(found->second.call);
      granted_.erase(found);
    } else {
      const auto queued = std::find_if(waiting_.begin(), waiting_.end(),
                                       [&](const auto& each) { return each.get() == call; });
      if (queued == waiting_.end()) return;
      last = std::move(*queued);
      waiting_.erase(queued);
      return;
    }
    if (waiting_.empty()) return;
    next = std::move(waiting_.front());
    waiting_.pop_front();
    granted_.emplace(next.get(), Granted{next, Steady::now()});
  }
  next->slot_granted();
}

void MessageSlots::tell_overdue(Steady::time_point granted_before) {
  std::vector<std::shared_ptr<SlotHolder>> overdue;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, granted] : granted_) {
      if (granted.since <= granted_before) overdue.push_back(granted.call);
    }
  }
  // Without the lock: it may end in release().
  for (const std::shared_ptr<SlotHolder>& call : overdue) call->slot_overdue();
}

}  // namespace chipweave::sched
