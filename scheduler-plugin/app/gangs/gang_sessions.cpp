#include "scheduler-plugin/app/gangs/gang_sessions.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

bool has(const NodeSet& nodes, NodeId node) { return node < nodes.size() && nodes[node]; }

void put(NodeSet& nodes, NodeId node) {
  if (node >= nodes.size()) nodes.resize(node + std::size_t{1});
  nodes[node] = true;
}

}  // namespace

std::optional<Verdict> GangSessions::find_place(const ClusterPod& pod, NodeId node) {
  if (auto waits = places_.wait_for_owner(pod.request)) return waits;
  if (!places_.plans_for(pod.request)) return std::nullopt;
  places_.restored().restore();
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const bool round = begins_round(gang.id, pod.request, node);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (plans_.find(gang.id) == nullptr && !gang.complete())
    return GangPlanning::waits_for_pods(gang.name);
  const Holding* own = at.slot == nullptr ? nullptr : plans_.holding_of(*at.slot);
  const bool good = own != nullptr && places_.is_usable(*own);
  if (good && !round) return std::nullopt;
  NodeSet offered(nodes_.size(), true);
  limit(gang.id, offered);
  if (!places_.lose_unusable(gang, offered) && good) return std::nullopt;
  return places_.planning().plan(gang, pod.request.uid, std::move(offered));
}

bool GangSessions::begins_round(const std::string& gang, const PodRequest& pod, NodeId node) {
  Of& of = gangs_[gang];
  of.placed.erase(pod.uid);
  if (node == kNoNode) return false;
  const bool again = pod.uid == of.round.uid ? has(of.round.about, node) : !still_waits(of.round);
  if (again) end_round(gang, of);
  if (of.round.uid.empty()) {
    of.round.first = pod.key;
    of.round.uid = pod.uid;
  }
  Round& round = of.round;
  if (pod.uid == round.uid) put(round.about, node);
  put(round.seen, node);
  const Holding* own = ledger_.find(pod.uid);
  if (own == nullptr || own->node != node) round.wide.insert(pod.mark->role);
  return again;
}

bool GangSessions::still_waits(const Round& round) const {
  const ClusterPod* pod = cluster_.find(round.first);
  return pod != nullptr && pod->request.uid == round.uid && pod->node.empty() &&
         records_.being_bound(round.uid) == nullptr;
}

void GangSessions::end_round(const std::string& gang, Of& of) {
  const Round round = std::exchange(of.round, {});
  const GangPlan* plan = plans_.find(gang);
  const auto now = clock_.now();
  std::erase_if(of.ruled_out, [&](const auto& one) { return one.second <= now; });
  if (plan == nullptr) {
    of.missed.clear();
    return;
  }
  const auto seen = std::count(round.seen.begin(), round.seen.end(), true);
  const int limit = seen >= kSample ? kMaxMissedSampled : kMaxMissed;
  std::map<NodeId, int> missed;
  for (const GangSlot& slot : plan->slots) {
    const Holding* held = slot.uid.empty() ? nullptr : plans_.holding_of(slot);
    if (held == nullptr || held->bound || !round.wide.contains(slot.role) ||
        has(round.seen, held->node))
      continue;
    const auto before = of.missed.find(held->node);
    const int count = before == of.missed.end() ? 1 : before->second + 1;
    if (count < limit) {
      missed[held->node] = count;
    } else {
      of.ruled_out[held->node] = now + kRuledOut;
    }
  }
  of.missed = std::move(missed);
}

void GangSessions::limit(const std::string& gang, NodeSet& nodes) const {
  const auto of = gangs_.find(gang);
  if (of == gangs_.end()) return;
  for (const auto& [node, until] : of->second.ruled_out) {
    if (node < nodes.size() && clock_.now() < until) nodes[node] = false;
  }
}

std::vector<NodeId> GangSessions::alike_among(const PodRequest& pod,
                                              std::span<const NodeId> nodes) const {
  std::vector<NodeId> out;
  for (const NodeId node : nodes) {
    if (node != kNoNode && !plans_.alike_on(pod.uid, node).empty()) out.push_back(node);
  }
  std::sort(out.begin(), out.end());
  return out;
}

const Holding* GangSessions::held_there(const std::string& gang, const PodRequest& pod,
                                        NodeId node) const {
  const GangPlans::Where at = plans_.of(pod.uid);
  const Holding* own = at.slot == nullptr ? nullptr : plans_.holding_of(*at.slot);
  if (own == nullptr || own->node == node) return own;
  if (own->bound || at.slot->index) return nullptr;
  const auto of = gangs_.find(gang);
  for (const Holding* other : plans_.alike_on(pod.uid, node)) {
    const bool elsewhere = of == gangs_.end() || !of->second.placed.contains(other->uid);
    if (elsewhere && !plans_.of(other->uid).slot->index) return other;
  }
  return nullptr;
}

Error GangSessions::refusal(const PodRequest& pod, NodeId node) const {
  return make_error(Errc::conflict, "pod " + pod.key.text() + " cannot be on node " +
                                        nodes_.node(node).name + ": " + gang_elsewhere().reason);
}

Result<void> GangSessions::place(const ClusterPod& pod, NodeId node) {
  if (const auto waits = find_place(pod, kNoNode)) return make_error(Errc::conflict, waits->reason);
  if (!places_.plans_for(pod.request)) return {};
  const std::string& uid = pod.request.uid;
  const std::string& gang = state_.gangs.of(uid)->id;
  const Holding* there = held_there(gang, pod.request, node);
  if (there == nullptr) return refusal(pod.request, node);
  if (there->uid != uid) plans_.exchange(uid, there->uid);
  gangs_[gang].placed.insert(uid);
  return {};
}

void GangSessions::taken_back(const PodRequest& pod) {
  const Gang* gang = state_.gangs.of(pod.uid);
  const auto of = gang == nullptr ? gangs_.end() : gangs_.find(gang->id);
  if (of != gangs_.end()) of->second.placed.erase(pod.uid);
}

Result<void> GangSessions::settle(const PodRequest& pod, NodeId node) {
  auto there = would_settle(pod, node);
  if (!there) return std::move(there).error();
  if (*there != nullptr && (*there)->uid != pod.uid) plans_.exchange(pod.uid, (*there)->uid);
  return {};
}

// Schedulers that never ask chipweave choose any node.
Result<const Holding*> GangSessions::would_settle(const PodRequest& pod, NodeId node) const {
  const Holding* own = ledger_.find(pod.uid);
  if (!places_.plans_for(pod) || own == nullptr || !own->planned || own->bound) return nullptr;
  const std::string& gang = state_.gangs.of(pod.uid)->id;
  const Holding* there = held_there(gang, pod, node);
  if (there == nullptr && gangs_.contains(gang)) return refusal(pod, node);
  return there;
}

}  // namespace chipweave::sched
