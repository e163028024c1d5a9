#include "scheduler-plugin/app/gangs/repair/fault_evictions.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

// Codes of faults by which operators take chips, or the machine, out of service.
bool is_by_operator(const domain::Fault& fault) {
  return fault.code == "cordoned" || fault.code == "maintenance";
}

}  // namespace

void FaultEvictions::check() {
  if (evictions_ == nullptr || !authority_.cannot_decide().empty()) return;
  for (auto& [uid, failing] : failing_) failing.seen = false;
  for (const auto& [id, gang] : state_.gangs.all()) {
    if (!gang.ends_failed || gang.quorum() == 0) continue;
    for (const auto& [uid, key] : gang.members) {
      const ClusterPod* pod = cluster_.find(key);
      if (pod != nullptr && pod->request.uid == uid) see(*pod, gang);
    }
  }
  std::erase_if(failing_, [&](const auto& one) {
    const Failing& failing = one.second;
    const bool once = failing.asked || failing.ended;
    return !failing.seen && !(once && state_.gangs.of(one.first) != nullptr);
  });
}

void FaultEvictions::see(const ClusterPod& pod, const Gang& gang) {
  const PodRequest& request = pod.request;
  if (pod.node.empty() || request.mark == nullptr || request.mark->fault == FaultRule::off) return;
  // its grace period runs already; by force it would end at once
  if (pod.ending && request.mark->fault == FaultRule::grace) return;
  std::string why = why_failed(pod);
  if (why.empty()) return;
  const Clock::Steady now = clock_.now();
  Failing& failing = failing_.try_emplace(request.uid, Failing{now, now + kLasts}).first->second;
  failing.seen = true;
  if (failing.asked || failing.ended || now < failing.next) return;
  failing.asked = true;
  end(pod, gang, std::move(why));
}

void FaultEvictions::end(const ClusterPod& pod, const Gang& gang, std::string why) {
  const bool at_once = pod.request.mark->fault == FaultRule::force;
  evictions_->evict(
      pod.request.key, pod.request.uid, at_once ? Grace::none : Grace::usual,
      [this, key = pod.request.key, uid = pod.request.uid, name = gang.ns + "/" + gang.name,
       why = std::move(why)](const Result<void>& result) {
        const auto at = failing_.find(uid);
        if (at == failing_.end()) return;
        at->second.asked = false;
        at->second.ended = result.ok();
        at->second.next = clock_.now() + kRetry;
        observer_.on(GangPodEnded{key, uid, name, why, result ? "" : result.error().text()});
      });
}

std::string FaultEvictions::why_failed(const ClusterPod& pod) const {
  if (!state_.standings.is_ready(pod.node)) return "node " + pod.node + " is not ready";
  const Holding* held = ledger_.find(pod.request.uid);
  if (held == nullptr || !held->bound || held->assumed) return {};
  if (!held->unreported.empty())
    return "node " + pod.node + " has no chip " + std::to_string(held->unreported.front()) +
           " any more";
  const ChipSet failed = failed_chips(*held);
  if (failed.empty()) return {};
  return "of node " + pod.node + " failed: chips " +
         comma_list(nodes_.node(held->node).topology.indices(failed));
}

ChipSet FaultEvictions::failed_chips(const Holding& held) const {
  const Node& node = nodes_.node(held.node);
  ChipSet failed = held.chips & (node.reported_unhealthy | node.network_unhealthy);
  for (const domain::Fault& fault : node.faults) {
    if (!is_by_operator(fault)) continue;
    if (!fault.chip) return {};
    if (const auto slot = node.topology.slot_of(*fault.chip)) failed.erase(*slot);
  }
  return failed;
}

}  // namespace chipweave::sched
