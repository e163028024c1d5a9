#include "scheduler-plugin/doors/grpc_calls.hpp"

#include <utility>
#include <vector>

namespace chipweave::sched {

bool LiveCalls::add(const std::shared_ptr<LiveCall>& call, Kind kind) {
  const std::lock_guard lock(mutex_);
  if (closing_) return false;
  if (kind == Kind::unary) {
    if (unary_ >= options.max_waiting_calls) return false;
    ++unary_;
  }
  calls_.emplace(call.get(), Entry{call, kind});
  return true;
}

void LiveCalls::remove(const LiveCall* call) {
  std::shared_ptr<LiveCall> last;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  if (found->second.kind == Kind::unary) --unary_;
  last = std::move(found->second.call);
  calls_.erase(found);
  changed_.notify_all();
}

void LiveCalls::abort(Kind kind) {
  std::vector<std::shared_ptr<LiveCall>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : calls_) {
      if (entry.kind == kind) all.push_back(entry.call);
    }
  }
  // Without the lock: finishing a call may end in remove().
  for (const std::shared_ptr<LiveCall>& call : all) call->abort();
}

bool LiveCalls::wait_for_unary(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return unary_ == 0; });
}

}  // namespace chipweave::sched
