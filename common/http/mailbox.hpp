// Mailbox — posts tasks from other threads to an owner on the loop thread. The owner calls cut() in
// its destructor; tasks that have not run by then are dropped.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/http/loop.hpp"

namespace chipweave::http {

template <class Owner>
class Mailbox : public std::enable_shared_from_this<Mailbox<Owner>> {
 public:
  Mailbox(Loop& loop, Owner& owner) : loop_(&loop), owner_(&owner) {}
  // Any thread.
  void post(std::function<void(Owner&)> task) {
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr) return;
    loop_->post([self = this->shared_from_this(), task = std::move(task)] {
      if (self->owner_ != nullptr) task(*self->owner_);
    });
  }
  // Loop thread, or after the loop has stopped.
  void cut() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
    owner_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Loop* loop_;
  Owner* owner_;  // read on the loop only
};

}  // namespace chipweave::http
