// Promises between prioritize and bind, of single pods and of groups.
#include <algorithm>
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

// The cluster's pod if it waits with this uid, else null: only such a pod may hold chips.
const ClusterPod* Scheduler::pending(const PodAsk& pod) const {
  if (pod.uid.empty()) return nullptr;
  const ClusterPod* held = cluster_.find(pod.key);
  return held != nullptr && held->ask.uid == pod.uid && held->node.empty() ? held : nullptr;
}

bool Scheduler::promise(const PodAsk& pod, NodeId node, const Answer& answer) {
  if (!answer.parts.empty()) {
    plan_group(pod, node, answer);
    return true;
  }
  withdraw(pod.uid);
  const bool held = ledger_
                        .hold({pod.uid,
                               pod.key,
                               node,
                               answer.chips,
                               false,
                               clock_.now() + options_.reservation_ttl,
                               {}})
                        .ok();
  if (held) observer_.promise(Promise::held);
  return held;
}

// Ends the promise of a pod, if it has one. A part of a group goes back to the group.
void Scheduler::withdraw(std::string_view uid) {
  const Holding* holding = ledger_.find(uid);
  if (holding == nullptr || holding->bound) return;
  if (!holding->group.empty()) {
    unclaim(*holding);
    return;
  }
  ledger_.drop(uid);
  observer_.promise(Promise::dropped);
}

void Scheduler::expire_promises() {
  const std::vector<Holding> expired = ledger_.expire(clock_.now());
  for (const Holding& gone : expired) {
    observer_.promise(Promise::expired);
    if (!gone.group.empty()) forget_part(gone.group, gone.uid);
  }
  // a group expires as one; only after every expired part is forgotten do plan and ledger agree
  // again
  for (const Holding& gone : expired) {
    if (!gone.group.empty()) dissolve_group(gone.group);
  }
}

bool Scheduler::is_member(const PodAsk& pod) {
  return pod.group && pod.group->replicas > 1 && pod.chips > 0;
}

std::string Scheduler::group_id(const PodAsk& pod) { return pod.key.ns + "/" + pod.group->name; }

bool Scheduler::part_usable(const Holding& part, bool distributed) const {
  const Node& node = nodes_.node(part.node);
  const ChipSet ill = distributed ? node.unhealthy | node.network_unhealthy : node.unhealthy;
  return !part.chips.intersects(ill);
}

// The part of the group's plan that is this pod's, claimed now if it has none yet; null without a
// plan that suits it.
const Holding* Scheduler::claim_part(const PodAsk& pod) {
  if (!is_member(pod)) return nullptr;
  const auto it = plans_.find(group_id(pod));
  if (it == plans_.end() || it->second.size != pod.chips) return nullptr;
  if (const Holding* own = ledger_.find(pod.uid)) return own->group == it->first ? own : nullptr;
  for (std::string& uid : it->second.parts) {
    if (!uid.starts_with("group:")) continue;
    ledger_.claim(uid, pod.uid, pod.key);
    uid = pod.uid;
    return ledger_.find(pod.uid);
  }
  return nullptr;
}

// A member that will not come leaves its chips to the next one.
void Scheduler::unclaim(const Holding& part) {
  const std::string id = part.group;
  const std::string uid = part.uid;
  const std::string name = "group:" + id + "#" + std::to_string(++plan_parts_);
  ledger_.claim(uid, name, {part.key.ns, id.substr(id.find('/') + 1) + " (group)"});
  for (std::string& listed : plans_.at(id).parts) {
    if (listed == uid) listed = name;
  }
  // nobody of the group is left: nothing to keep together
  const auto& parts = plans_.at(id).parts;
  if (std::all_of(parts.begin(), parts.end(),
                  [](const std::string& p) { return p.starts_with("group:"); })) {
    dissolve_group(id);
  }
}

// Holds all parts under the group, the first for this pod. Earlier unbound parts were dissolved by
// the caller.
void Scheduler::plan_group(const PodAsk& pod, NodeId node, const Answer& answer) {
  const std::string id = group_id(pod);
  dissolve_group(id);
  if (const Holding* own = ledger_.find(pod.uid); own != nullptr && !own->bound)
    ledger_.drop(pod.uid);
  GroupPlan& plan = plans_[id];
  plan.node = node;
  plan.size = pod.chips;
  plan.request = answer.request;
  plan.gbps = answer.verdict.gbps;
  plan.best_gbps = answer.verdict.best_gbps;
  const auto expires = clock_.now() + options_.reservation_ttl;
  bool first = true;
  for (const ChipSet chips : answer.parts) {
    const std::string uid = first ? pod.uid : "group:" + id + "#" + std::to_string(++plan_parts_);
    const PodKey key = first ? pod.key : PodKey{pod.key.ns, pod.group->name + " (group)"};
    first = false;
    if (!ledger_.hold({uid, key, node, chips, false, expires, id}).ok()) continue;
    plan.parts.push_back(uid);
    observer_.promise(Promise::held);
  }
}

// Gives back every part that is not bound.
void Scheduler::dissolve_group(const std::string& id) {
  const auto it = plans_.find(id);
  if (it == plans_.end()) return;
  auto& parts = it->second.parts;
  std::erase_if(parts, [&](const std::string& uid) {
    if (ledger_.find(uid)->bound) return false;
    ledger_.drop(uid);
    observer_.promise(Promise::dropped);
    return true;
  });
  if (parts.empty()) plans_.erase(it);
}

void Scheduler::forget_part(const std::string& id, const std::string& uid) {
  const auto it = plans_.find(id);
  if (it == plans_.end()) return;
  std::erase(it->second.parts, uid);
  if (it->second.parts.empty()) plans_.erase(it);
}

}  // namespace chipweave::sched
