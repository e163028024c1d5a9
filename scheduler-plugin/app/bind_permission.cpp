#include "scheduler-plugin/app/bind_permission.hpp"

#include <algorithm>

#include "common/base/foreign_text.hpp"

namespace chipweave::sched {
namespace {

// What the API server writes if a pod names none.
constexpr const char* kDefaultScheduler = "default-scheduler";

std::string scheduler_of(const ClusterPod& pod) {
  return pod.scheduler.empty() ? kDefaultScheduler : pod.scheduler;
}

}  // namespace

void BindPermission::answered(const std::string& caller, const std::string& uid) {
  if (caller.empty() || uid.empty()) return;
  const Clock::Steady now = clock_.now();
  if (recent_.size() >= kMaxPodsOfGeneration || now - since_ >= kGeneration) {
    older_ = std::exchange(recent_, {});
    since_ = now;
  }
  recent_[uid] = caller;
}

bool BindPermission::was_answered(const std::string& caller, const std::string& uid) const {
  const auto recent = recent_.find(uid);
  if (recent != recent_.end()) return recent->second == caller;
  const auto older = older_.find(uid);
  return older != older_.end() && older->second == caller &&
         clock_.now() - since_ < kGeneration;  // else they are due to go
}

Result<void> BindPermission::check(const std::string& caller, const ClusterPod& pod) const {
  const auto refuse = [&](const std::string& why) {
    return make_error(Errc::conflict, "pod " + pod.request.key.text() + ": " + why);
  };
  const std::string scheduler = scheduler_of(pod);
  const bool listed = std::find(listed_.begin(), listed_.end(), scheduler) != listed_.end();
  if (!listed_.empty() && !listed)
    return refuse("its schedulerName " + in_quotes(scheduler) + " is not in scheduler-names");
  if (caller.empty() || (listed && pod.request.chips > 0)) return {};
  if (was_answered(caller, pod.request.uid)) return {};
  return refuse("caller " + in_quotes(caller) + " has not asked about it; call filter first");
}

void BindPermission::bound(const std::string& uid) {
  recent_.erase(uid);
  older_.erase(uid);
}

void BindPermission::forget() {
  recent_.clear();
  older_.clear();
}

}  // namespace chipweave::sched
