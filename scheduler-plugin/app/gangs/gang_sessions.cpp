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

bool GangSessions::asked(const std::string& gang, const PodRequest& pod, NodeId node) {
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

const Holding* GangSessions::would_place(const std::string& gang, const PodRequest& pod,
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

Result<void> GangSessions::place(const std::string& gang, const PodRequest& pod, NodeId node) {
  const Holding* there = would_place(gang, pod, node);
  if (there == nullptr) return refusal(pod, node);
  if (there->uid != pod.uid) plans_.exchange(pod.uid, there->uid);
  return {};
}

void GangSessions::placed(const std::string& gang, const std::string& uid) {
  gangs_[gang].placed.insert(uid);
}

void GangSessions::taken_back(const std::string& gang, std::string_view uid) {
  const auto of = gangs_.find(gang);
  if (of == gangs_.end()) return;
  if (const auto at = of->second.placed.find(uid); at != of->second.placed.end())
    of->second.placed.erase(at);
}

void GangSessions::forget(const std::string& gang) { gangs_.erase(gang); }

}  // namespace chipweave::sched
