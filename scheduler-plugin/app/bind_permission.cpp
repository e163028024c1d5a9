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

void BindPermission::answered(const std::string& caller, const PodRequest& asked,
                              const ClusterPod* known) {
  if (caller.empty() || asked.uid.empty()) return;
  const bool same = known != nullptr && known->request.uid == asked.uid;
  if (same && known->node.empty()) learn(caller, scheduler_of(*known));
  if (asked.chips > 0) return;
  const Clock::Steady now = clock_.now();
  if (recent_.size() >= kMaxPodsOfGeneration || now - since_ >= kGeneration) {
    older_ = std::exchange(recent_, {});
    since_ = now;
  }
  recent_[asked.uid] = caller;
}

void BindPermission::learn(const std::string& caller, const std::string& scheduler) {
  if (!listed_.empty() || may_schedule(caller, scheduler)) return;
  if (learned_.size() >= kMaxLearned) learned_.erase(learned_.begin());
  learned_.emplace_back(caller, scheduler);
}

bool BindPermission::has_learned(const std::string& caller) const {
  return std::any_of(learned_.begin(), learned_.end(),
                     [&](const auto& pair) { return pair.first == caller; });
}

bool BindPermission::may_schedule(const std::string& caller, const std::string& scheduler) const {
  if (!listed_.empty())
    return std::find(listed_.begin(), listed_.end(), scheduler) != listed_.end();
  return std::any_of(learned_.begin(), learned_.end(), [&](const auto& pair) {
    return pair.first == caller && pair.second == scheduler;
  });
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
  const bool known = !listed_.empty() || (!caller.empty() && has_learned(caller));
  if (known && !may_schedule(caller, scheduler)) {
    return refuse(listed_.empty()
                      ? "caller " + in_quotes(caller) +
                            " has not asked about a pod with its schedulerName " +
                            in_quotes(scheduler) + "; call filter first"
                      : "its schedulerName " + in_quotes(scheduler) + " is not in scheduler-names");
  }
  if (caller.empty() || pod.request.chips > 0 || was_answered(caller, pod.request.uid)) return {};
  return refuse("it requests no chips, and caller " + in_quotes(caller) +
                " has not asked about it; call filter first");
}

void BindPermission::bound(const std::string& uid) {
  recent_.erase(uid);
  older_.erase(uid);
}

void BindPermission::forget() {
  learned_.clear();
  recent_.clear();
  older_.clear();
}

}  // namespace chipweave::sched
