#include "scheduler-plugin/app/reconciler.hpp"

#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "scheduler-plugin/app/annotations.hpp"

namespace chipweave::sched {
namespace {

// Null unless the placement can belong to this pod.
const Placement* credible(const ClusterPod& pod, const Placement* p) {
  return p != nullptr && can_be_of(*p, pod) ? p : nullptr;
}

}  // namespace

void Reconciler::pod_added(const ClusterPod& pod, const Placement* claimed) {
  state_.jobs.add(pod.request);
  gangs_.added(pod);
  if (pod.request.chips == 0) return;
  state_.demand.add({pod.request.chips, pod.request.needs});
  records_.on(pod.request.uid, PodEvent::arrived, pod.request.key);
  if (!pod.node.empty()) return reconcile(pod, credible(pod, claimed));
  if (!pod.nominated.empty()) nominations_.nominated(pod);
}

void Reconciler::pod_nominated(const ClusterPod& pod) {
  reservations_.nominated(pod);
  gangs_.nominations().nominated(pod);
  nominations_.nominated(pod);
}

void Reconciler::pod_bound(const ClusterPod& pod, const Placement* claimed) {
  if (pod.request.chips == 0) return;
  claimed = credible(pod, claimed);
  PodRecord& record = *records_.find(pod.request.uid);
  waits_no_more(record);
  if (record.in_flight != nullptr) {
    const Decision& d = record.in_flight->decision;
    const bool ours = pod.node == record.in_flight->binding.node && claimed != nullptr &&
                      claimed->decision == d.id && claimed->chips == d.indices;
    if (ours) {
      bindings_.done(record);
      return truth_.bound(pod);
    }
    bindings_.failed(
        record, make_error(Errc::conflict, "pod " + pod.request.key.text() + " was bound to node " +
                                               pod.node + " by another scheduler"));
  }
  reconcile(pod, claimed);
}

void Reconciler::pod_gone(const ClusterPod& pod) {
  state_.jobs.remove(pod.request);
  const std::string& uid = pod.request.uid;
  truth_.gone(uid);
  PodRecord* record = records_.find(uid);
  if (record == nullptr) return gangs_.gone(pod.request);
  if (record->in_flight != nullptr) {
    bindings_.failed(*record,
                     make_error(Errc::not_found, "pod " + pod.request.key.text() + " was deleted"));
  }
  waits_no_more(*record);
  gangs_.gone(pod.request);
  reservations_.withdraw(uid);
  if (record->decision != nullptr)
    observer_.on(PodFreed{decisions_.placed_pod_of(*record->decision)});
  records_.on(uid, PodEvent::gone);
  if (const auto node = bound_pods_.gone(uid)) nominations_.keep_on(*node);
}

void Reconciler::node_use_changed(const std::string& node, const NodeUse& change) {
  state_.rooms.add_use(node, change);
}

// The one place that ends what others keep for a waiting pod, apart from its record.
void Reconciler::waits_no_more(PodRecord& record) {
  nominations_.waits_no_more(record.uid);
  gangs_.nominations().waits_no_more(record.uid);
  admissions_.drop_second(record);
  observer_.on(PodWaitsNoMore{record.uid});
}

void Reconciler::reconcile(const ClusterPod& pod, const Placement* claimed) {
  const std::string& uid = pod.request.uid;
  if (const Placement* given = truth_.of(pod, claimed)) claimed = given;
  if (const Holding* held = ledger_.find(uid)) {
    const bool learned =
        claimed != nullptr && (held->assumed || !bound_pods_.matches(*held, *claimed));
    if (held->bound && !learned) return;
    if (held->bound) drop_holding(uid);
  }
  const NodeId node = nodes_.declare(pod.node);
  // if that fails now, it is tried again later
  if (claimed == nullptr && node != kNoNode && decides_after_bind(pod) &&
      place_after_bind(pod, node))
    return;
  reservations_.withdraw(uid);
  // the rest of its group was planned around other chips
  if (is_member(pod.request)) groups_.dissolve(group_id(pod.request));
  if (node == kNoNode) return observer_.on(PodUnaccounted{pod.request.key, pod.node});
  if (claimed != nullptr) bindings_.give_up_earlier(node, *claimed);
  bound_pods_.found(pod, node, claimed);
}

bool Reconciler::decides_after_bind(const ClusterPod& pod) const {
  return decide_after_bind_ && !pod.started && !pod.node.empty() && pod.request.chips > 0 &&
         pod.refused.empty();
}

// False if there is no set for it. Precondition: it holds at most a reservation.
bool Reconciler::place_after_bind(const ClusterPod& pod, NodeId node) {
  if (!authority_.cannot_decide().empty() || !nodes_.node(node).has_inventory()) return false;
  if (!authority_.is_certain(pod.node)) {
    authority_.when_certain(pod.node, [](const Result<void>&) {});  // it is retried
    return false;
  }
  if (!reservations_.take(pod.request, node)) return false;
  const std::string& uid = pod.request.uid;
  const Holding& held = *ledger_.find(uid);
  PodRecord& record = *records_.find(uid);
  auto decision = std::make_unique<Decision>(decisions_.make(pod.request, held));
  auto late = std::make_unique<LateAnnotations>();
  late->annotations = annotations_of(*decision, nodes_.node(node));
  nodes_.set_predicate_time(node, decision->predicate_time);
  ledger_.confirm(uid);
  records_.on(uid, PodEvent::placed_late);
  record.decision = std::move(decision);
  record.late = std::move(late);
  const Decision& d = *record.decision;
  observer_.on(PodBound{d.pod, uid, nodes_.node(node).name, comma_list(d.indices), d.gbps,
                        d.best_gbps, d.id, d.unenforced_gbps});
  observer_.on(PodPlaced{decisions_.placed_pod_of(d)});
  write_placement(record);
  return true;
}

void Reconciler::write_placement(PodRecord& record) {
  record.late->asked = true;
  cluster_.annotate(record.key, record.uid, record.late->annotations,
                    [this, uid = record.uid](const Result<void>& result) {
                      PodRecord* written = records_.find(uid);
                      if (written == nullptr || written->state != PodState::annotating) return;
                      LateAnnotations& late = *written->late;
                      late.asked = false;
                      // conflict: it has another placement by now, which the watch delivers
                      if (result || result.error().code == Errc::conflict ||
                          result.error().code == Errc::not_found) {
                        records_.on(uid, PodEvent::annotated);
                      } else {
                        if (result.error().code == Errc::invalid_argument)
                          late.next = clock_.now() + late.refusals.next();
                        observer_.on(BindFailed{{written->key, uid, {}}, result.error()});
                      }
                    });
}

void Reconciler::check() {
  if (!decide_after_bind_ || !authority_.cannot_decide().empty()) return;
  std::vector<std::string> uids;
  for (const PodState state : {PodState::annotating, PodState::assumed}) {
    for (const PodRecord* record : records_.in(state)) uids.push_back(record->uid);
  }
  for (const std::string& uid : uids) {
    PodRecord* record = records_.find(uid);
    if (record == nullptr) continue;
    const ClusterPod* pod = cluster_.find(record->key);
    const bool waits = pod != nullptr && pod->request.uid == uid && decides_after_bind(*pod);
    if (record->state == PodState::annotating) {
      if (!waits) {
        records_.on(uid, PodEvent::annotated);
      } else if (!record->late->asked && record->late->next <= clock_.now()) {
        write_placement(*record);
      }
    } else if (record->state == PodState::assumed && waits) {
      drop_holding(uid);  // it was assumed to have some
      records_.on(uid, PodEvent::released);
      reconcile(*pod, nullptr);
    }
  }
}

}  // namespace chipweave::sched
