// Rejected pods: whether one of them fits now.
#include <algorithm>
#include <set>
#include <tuple>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

std::string Scheduler::room_for_rejected() {
  using Kind = std::tuple<std::string, int, std::string, bool, const void*>;
  std::set<Kind> seen;
  std::set<Kind> room;
  std::string node;
  const auto kind_of = [](const ClusterPod& pod, const LastEvaluation& last) {
    return Kind{pod.request.resource, pod.request.chips, job_identity(pod.request),
                pod.request.distributed, last.offered.get()};
  };
  for (auto& [uid, last] : last_evaluations_) {
    if (last.node != kNoNode || last.requeued || last.offered == nullptr) continue;
    const ClusterPod* pod = cluster_.find(last.pod);
    if (pod == nullptr || pod->request.uid != uid || !pod->node.empty()) continue;
    const Kind kind = kind_of(*pod, last);
    if (room.contains(kind)) last.requeued = true;
    if (seen.size() >= kMaxKinds || !seen.insert(kind).second) continue;
    std::vector<std::string_view> names;
    for (const NodeId id : *last.offered) {
      if (id != kNoNode) names.push_back(nodes_.node(id).name);
    }
    evaluate_nodes(context_of(pod->request, nullptr), names);
    if (evaluation_.best_node == kNoNode) continue;
    if (node.empty()) node = nodes_.node(evaluation_.best_node).name;
    last.requeued = true;
    room.insert(kind);
  }
  return node;
}

// The oldest entry is dropped if full; its scheduler then retries by itself after minutes.
void Scheduler::remember_unseen(const PodRequest& pod) {
  const ClusterPod* other = cluster_.find(pod.key);
  if (pod.uid.empty() || (other != nullptr && other->request.uid == pod.uid)) return;
  std::erase_if(unseen_pods_, [&](const UnseenPod& one) { return one.uid == pod.uid; });
  if (unseen_pods_.size() >= kMaxUnseenPods) unseen_pods_.pop_front();
  unseen_pods_.push_back({pod.uid, std::make_shared<const std::vector<NodeId>>(evaluation_.nodes)});
}

void Scheduler::pod_seen(const ClusterPod& pod) {
  const auto it = std::find_if(unseen_pods_.begin(), unseen_pods_.end(),
                               [&](const UnseenPod& one) { return one.uid == pod.request.uid; });
  if (it == unseen_pods_.end()) return;
  if (pod.node.empty()) {
    LastEvaluation last;
    last.pod = pod.request.key;
    last.offered = it->offered;
    if (last_evaluations_.try_emplace(pod.request.uid, std::move(last)).second) ++unseen_arrivals_;
  }
  unseen_pods_.erase(it);
}

void Scheduler::requeue_again() {
  for (auto& [uid, last] : last_evaluations_) last.requeued = false;
}

}  // namespace chipweave::sched
