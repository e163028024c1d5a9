// MessageSlots — bounds how many calls receive or hold a message at the same time, and so the
// memory of all callers together, however many calls they start.
//
// A call without a slot has read nothing: flow control keeps its message with the sender. Calls get
// slots in the order in which they ask. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace chipweave::sched {

class SlotHolder {
 public:
  SlotHolder() = default;
  SlotHolder(const SlotHolder&) = delete;
  SlotHolder& operator=(const SlotHolder&) = delete;
  virtual ~SlotHolder() = default;
  // May start to read. Called on the thread of another call's release().
  virtual void slot_granted() = 0;
  // Has had the slot for longer than a message may take to arrive.
  virtual void slot_overdue() = 0;
};

class MessageSlots {
 public:
  using Steady = std::chrono::steady_clock;

  explicit MessageSlots(std::size_t slots) : slots_(slots) {}

  // True: granted at once. Otherwise slot_granted() follows.
  bool acquire(std::shared_ptr<SlotHolder> call);
  // Also ends waiting for a slot; no effect on others. May call slot_granted() of another call, so
  // hold no lock of a call.
  void release(const SlotHolder* call);
  void tell_overdue(Steady::time_point granted_before);

 private:
  struct Granted {
    std::shared_ptr<SlotHolder> call;
    Steady::time_point since;
  };
  const std::size_t slots_;
  std::mutex mutex_;
  std::unordered_map<const SlotHolder*, Granted> granted_;
  std::deque<std::shared_ptr<SlotHolder>> waiting_;
};

}  // namespace chipweave::sched
