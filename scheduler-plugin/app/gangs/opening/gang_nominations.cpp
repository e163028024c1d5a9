#include "scheduler-plugin/app/gangs/opening/gang_nominations.hpp"

#include <utility>
#include <vector>

namespace chipweave::sched {

void GangNominations::check() {
  if (silent() || !authority_.cannot_decide().empty()) return;
  find_changes();
  go_on();
}

void GangNominations::find_changes() {
  for (const auto& [gang, plan] : plans_.all()) {
    std::uint64_t& seen = seen_[gang];
    if (seen == plan.version) continue;
    seen = plan.version;
    for (const GangSlot& slot : plan.slots) {
      if (!slot.uid.empty()) due_.insert(slot.uid);
    }
  }
  if (seen_.size() <= plans_.all().size()) return;
  std::erase_if(seen_, [&](const auto& one) { return plans_.find(one.first) == nullptr; });
}

void GangNominations::go_on() {
  if (std::exchange(going_on_, true)) return;
  std::vector<std::string> later;
  while (!due_.empty() && asked_ < kMaxAsked) {
    std::string uid = std::move(due_.extract(due_.begin()).value());
    if (!tell(uid)) later.push_back(std::move(uid));
  }
  for (std::string& uid : later) due_.insert(std::move(uid));
  going_on_ = false;
}

bool GangNominations::tell(const std::string& uid) {
  const GangPlans::Where at = plans_.of(uid);
  const Holding* held = at.slot == nullptr ? nullptr : plans_.holding_of(*at.slot);
  const ClusterPod* pod = held == nullptr ? nullptr : cluster_.find(held->key);
  if (pod == nullptr || pod->request.uid != uid || !pod->node.empty() || pod->ending || pod->gated)
    return true;
  const std::string& node = nodes_.node(held->node).name;
  if (pod->nominated == node) return true;
  if (const auto told = told_.find(uid); told != told_.end()) {
    if (told->second.asked || clock_.now() < told->second.next) return false;
  }
  tell(*pod, node, [] {});
  return true;
}

void GangNominations::tell(const ClusterPod& pod, const std::string& node,
                           std::function<void()> then) {
  if (silent() || pod.nominated == node) return then();
  Told& told = told_[pod.request.uid];
  told.asked = true;
  told.next = clock_.now() + told.pauses.next();
  ++asked_;
  cluster_.nominate(
      {pod.request.key, pod.request.uid, node},
      [this, uid = pod.request.uid, then = std::move(then)](const Result<void>& result) {
        answered(uid, result);
        then();
        go_on();
      });
}

void GangNominations::answered(const std::string& uid, const Result<void>& result) {
  --asked_;
  if (const auto told = told_.find(uid); told != told_.end()) told->second.asked = false;
  if (result) return;
  const Errc code = result.error().code;
  if (code == Errc::unavailable) due_.insert(uid);
  if (code == Errc::invalid_argument) silent_until_ = clock_.now() + kSilence;
  if (code == Errc::unavailable || code == Errc::invalid_argument)
    observer_.on(GangNotNominated{uid, result.error().text()});
}

void GangNominations::nominated(const ClusterPod& pod) {
  if (plans_.of(pod.request.uid).slot != nullptr) due_.insert(pod.request.uid);
}

void GangNominations::waits_no_more(std::string_view uid) {
  if (const auto told = told_.find(uid); told != told_.end()) told_.erase(told);
  if (const auto due = due_.find(uid); due != due_.end()) due_.erase(due);
}

void GangNominations::step_down() {
  seen_.clear();
  due_.clear();
}

}  // namespace chipweave::sched
