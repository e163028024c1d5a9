// Decisions after the binding: another scheduler bound a pod without a placement and without
// admission. If it has not started, its chips are chosen now and annotated, for a device plugin
// that waits for the annotation (SchedulerOptions::decide_after_bind).
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

bool Scheduler::decides_after_bind(const ClusterPod& pod) const {
  return options_.decide_after_bind && !pod.started && !pod.node.empty() && pod.request.chips > 0;
}

// False if there is no set for it. Precondition: it holds at most a reservation.
bool Scheduler::place_after_bind(const ClusterPod& pod, NodeId node) {
  if (!cannot_decide().empty() || !nodes_.node(node).has_inventory()) return false;
  if (!is_node_certain(pod.node)) {
    when_node_certain(pod.node, [](const Result<void>&) {});  // it is retried
    return false;
  }
  if (!take_chips(pod.request, node)) return false;
  const std::string& uid = pod.request.uid;
  const Holding& held = *ledger_.find(uid);
  Decision made = decide(pod.request, held);
  nodes_.set_predicate_time(node, made.predicate_time);
  AfterBind& pending_write = after_bind_[uid];
  pending_write.key = pod.request.key;
  pending_write.annotations = annotations_of(made, nodes_.node(node));
  ledger_.confirm(uid);
  const Decision& d = made;
  observer_.bound(
      {d.pod, uid, nodes_.node(node).name, comma_list(d.indices), d.gbps, d.best_gbps, d.id});
  last_evaluations_.erase(uid);
  keep(std::move(made));
  observer_.placed(placed_pod_of(*decision(uid)));
  write_placement(uid);
  return true;
}

void Scheduler::write_placement(const std::string& uid) {
  AfterBind& pending_write = after_bind_.at(uid);
  pending_write.asked = true;
  cluster_.annotate(pending_write.key, uid, pending_write.annotations,
                    [this, uid](const Result<void>& result) {
                      const auto it = after_bind_.find(uid);
                      if (it == after_bind_.end()) return;
                      it->second.asked = false;
                      // conflict: it has another placement by now, which the watch delivers
                      if (result || result.error().code == Errc::conflict ||
                          result.error().code == Errc::not_found) {
                        after_bind_.erase(it);
                      } else {
                        observer_.bind_failed({it->second.key, uid, {}}, result.error());
                      }
                    });
}

// Retries pods without chips and annotations that could not be written.
void Scheduler::check_after_bind() {
  if (!cannot_decide().empty()) return;
  std::vector<std::string> uids;
  for (const auto& [uid, pending_write] : after_bind_) {
    if (!pending_write.asked) uids.push_back(uid);
  }
  for (const std::string& uid : uids) {
    const AfterBind& pending_write = after_bind_.at(uid);
    const ClusterPod* pod = cluster_.find(pending_write.key);
    if (pod == nullptr || pod->request.uid != uid || pod->started) {
      after_bind_.erase(uid);
      continue;
    }
    if (!pending_write.annotations.empty()) {
      write_placement(uid);
    } else {
      ledger_.drop(uid);  // it was assumed to have some
      reconcile(*pod, nullptr);
    }
  }
}

}  // namespace chipweave::sched
