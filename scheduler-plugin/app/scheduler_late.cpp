// Decisions after the fact: a pod was bound by somebody who brought no placement, and no admission
// was asked. If it has not started, its chips are chosen now and written to it, for a device plugin
// that waits until they are there (SchedulerOptions::decide_after_bind).
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

bool Scheduler::decides_late(const ClusterPod& pod) const {
  return options_.decide_after_bind && !pod.started && !pod.node.empty() && pod.request.chips > 0;
}

// Whether there is a set for it. Precondition: it holds nothing there but a reservation.
bool Scheduler::decide_late(const ClusterPod& pod, NodeId node) {
  if (!cannot_decide().empty() || !nodes_.node(node).has_inventory()) return false;
  if (!is_node_certain(pod.node)) {
    when_node_certain(pod.node, [](const Result<void>&) {});  // it is tried again
    return false;
  }
  if (!take_chips(pod.request, node)) return false;
  const std::string& uid = pod.request.uid;
  const Holding& held = *ledger_.find(uid);
  Decision made = decide(pod.request, held);
  nodes_.set_predicate_time(node, made.predicate_time);
  Late& late = late_[uid];
  late.key = pod.request.key;
  late.annotations = annotations_of(made, nodes_.node(node));
  ledger_.confirm(uid);
  const Decision& d = made;
  observer_.bound(
      {d.pod, uid, nodes_.node(node).name, comma_list(d.indices), d.gbps, d.best_gbps, d.id});
  last_evaluations_.erase(uid);
  keep(std::move(made));
  observer_.placed(told_of(*decision(uid)));
  write_late(uid);
  return true;
}

void Scheduler::write_late(const std::string& uid) {
  Late& late = late_.at(uid);
  late.asked = true;
  cluster_.annotate(late.key, uid, late.annotations, [this, uid](const Result<void>& how) {
    const auto it = late_.find(uid);
    if (it == late_.end()) return;
    it->second.asked = false;
    // conflict: it says something else by now, and the watch tells what
    if (how || how.error().code == Errc::conflict || how.error().code == Errc::not_found) {
      late_.erase(it);
    } else {
      observer_.bind_failed({it->second.key, uid, {}}, how.error());
    }
  });
}

// Pods that could not be given chips yet, and annotations that could not be written.
void Scheduler::look_after_late() {
  if (!cannot_decide().empty()) return;
  std::vector<std::string> uids;
  for (const auto& [uid, late] : late_) {
    if (!late.asked) uids.push_back(uid);
  }
  for (const std::string& uid : uids) {
    const Late& late = late_.at(uid);
    const ClusterPod* pod = cluster_.find(late.key);
    if (pod == nullptr || pod->request.uid != uid || pod->started) {
      late_.erase(uid);
      continue;
    }
    if (!late.annotations.empty()) {
      write_late(uid);
    } else {
      ledger_.drop(uid);  // it was assumed to have some
      reconcile(*pod, nullptr);
    }
  }
}

}  // namespace chipweave::sched
