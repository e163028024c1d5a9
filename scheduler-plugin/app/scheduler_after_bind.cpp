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
  PodRecord& record = *records_.find(uid);
  auto decision = std::make_unique<Decision>(decide(pod.request, held));
  auto late = std::make_unique<LateAnnotations>();
  late->annotations = annotations_of(*decision, nodes_.node(node));
  nodes_.set_predicate_time(node, decision->predicate_time);
  ledger_.confirm(uid);
  records_.on(uid, PodEvent::placed_late);
  record.decision = std::move(decision);
  record.late = std::move(late);
  const Decision& d = *record.decision;
  observer_.bound(
      {d.pod, uid, nodes_.node(node).name, comma_list(d.indices), d.gbps, d.best_gbps, d.id});
  observer_.placed(placed_pod_of(d));
  write_placement(record);
  return true;
}

void Scheduler::write_placement(PodRecord& record) {
  record.late->asked = true;
  cluster_.annotate(record.key, record.uid, record.late->annotations,
                    [this, uid = record.uid](const Result<void>& result) {
                      PodRecord* written = records_.find(uid);
                      if (written == nullptr || written->state != PodState::annotating) return;
                      written->late->asked = false;
                      // conflict: it has another placement by now, which the watch delivers
                      if (result || result.error().code == Errc::conflict ||
                          result.error().code == Errc::not_found) {
                        records_.on(uid, PodEvent::annotated);
                      } else {
                        observer_.bind_failed({written->key, uid, {}}, result.error());
                      }
                    });
}

// Retries pods without chips and annotations that could not be written.
void Scheduler::check_after_bind() {
  if (!options_.decide_after_bind || !cannot_decide().empty()) return;
  std::vector<std::string> uids;
  for (const PodState state : {PodState::annotating, PodState::assumed}) {
    for (const PodRecord* record : records_.in(state)) uids.push_back(record->uid);
  }
  for (const std::string& uid : uids) {
    PodRecord* record = records_.find(uid);
    if (record == nullptr) continue;
    const ClusterPod* pod = cluster_.find(record->key);
    const bool waits = pod != nullptr && pod->request.uid == uid && !pod->started;
    if (record->state == PodState::annotating) {
      if (!waits) {
        records_.on(uid, PodEvent::annotated);
      } else if (!record->late->asked) {
        write_placement(*record);
      }
    } else if (record->state == PodState::assumed && waits) {
      ledger_.drop(uid);  // it was assumed to have some
      records_.on(uid, PodEvent::released);
      reconcile(*pod, nullptr);
    }
  }
}

}  // namespace chipweave::sched
