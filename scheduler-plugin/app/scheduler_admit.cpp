// Admission: another scheduler sends a binding, and the API server asks which chips the pod gets
// before it stores it.
//
// The API server does not report whether it stored the binding. An admitted binding is therefore in
// flight with an unknown outcome: the pod keeps the chips until the watch shows the outcome or the
// uncertainty window is over. If its scheduler chooses another node meanwhile, both sets are kept
// until then (OrphanedReservation).
#include <utility>
#include <vector>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/app/uncertainty.hpp"

namespace chipweave::sched {

void Scheduler::admit(const AdmissionRequest& request, Admitted done) {
  const Binding& binding = request.binding;
  Admitted finish = [this, binding, begin = clock_.now(),
                     done = std::move(done)](Result<Admission> result) {
    if (!result) observer_.bind_failed(binding, result.error());
    observer_.decided(Verb::admit, clock_.now() - begin, result.ok() ? 1 : 0);
    done(std::move(result));
  };
  if (std::string why = cannot_decide(); !why.empty())
    return finish(make_error(Errc::unavailable, std::move(why)));
  const ClusterPod* pod = cluster_.find(binding.key);
  const bool same = pod != nullptr && (binding.uid.empty() || pod->request.uid == binding.uid);
  if (same) return admit_when_certain(request, finish);
  // the pod may have been created or recreated a moment ago
  cluster_.refresh(binding.key,
                   [this, request, finish = std::move(finish)](const Result<void>& result) {
                     if (!result) return finish(result.error());
                     admit_when_certain(request, finish);
                   });
}

void Scheduler::admit_when_certain(const AdmissionRequest& request, const Admitted& finish) {
  const ClusterPod* pod = cluster_.find(request.binding.key);
  const NodeId node = nodes_.find(request.binding.node);
  const bool ours =
      pod != nullptr && pod->node.empty() && pod->request.chips > 0 && node != kNoNode;
  if (!ours || is_node_certain(request.binding.node)) return finish(admit_known(request));
  when_node_certain(request.binding.node, [this, request, finish](const Result<void>& result) {
    finish(result ? admit_known(request) : Result<Admission>(result.error()));
  });
}

Result<Admission> Scheduler::admit_known(const AdmissionRequest& request) {
  if (std::string why = cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  expire_reservations();
  const ClusterPod* pod = cluster_.find(request.binding.key);
  if (pod == nullptr && request.binding.uid.empty()) {
    // a pod that is being created right now would be bound without its chips
    return make_error(Errc::not_found, "pod " + request.binding.key.text() + " does not exist");
  }
  // No such pod, or a recreated one: the API server checks the uid and refuses the binding itself.
  if (pod == nullptr || (!request.binding.uid.empty() && pod->request.uid != request.binding.uid))
    return Admission{};
  // Already bound: likewise. No whole chips requested: not ours.
  if (!pod->node.empty() || !pod->refused.empty() || pod->request.chips == 0)
    return Admission{pod->request.uid, {}};
  const Binding binding{request.binding.key, pod->request.uid, request.binding.node};
  const NodeId node = nodes_.find(binding.node);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return make_error(Errc::conflict, "node " + binding.node + ": inventory not received");
  }
  const auto in_flight = in_flight_.find(binding.uid);
  const bool here = in_flight != in_flight_.end() && in_flight->second.binding.node == binding.node;
  if (in_flight != in_flight_.end() && !here && !in_flight->second.admitted_only())
    return bound_elsewhere(in_flight->second);
  if (here &&
      (request.dry_run || request.placement == in_flight->second.annotations[kPlacementAnnotation]))
    return Admission{binding.uid, in_flight->second.annotations};  // the latter: our own binding
  if (request.dry_run) return would_admit(pod->request, node);
  if (in_flight != in_flight_.end() && !here) orphan(in_flight);
  if (!here) {
    if (auto taken = take_chips(pod->request, node); !taken) return std::move(taken).error();
  }
  InFlightBinding& begun = here ? in_flight->second : begin_binding(binding, pod->request);
  begun.admitted_until = clock_.now() + kUncertaintyWindow;
  begun.term = term();
  if (!begun.asked) begun.ask_again = begun.admitted_until;
  return Admission{binding.uid, begun.annotations};
}

// What admit() would answer, without taking chips.
Result<Admission> Scheduler::would_admit(const PodRequest& pod, NodeId node) {
  const Holding* held = ledger_.find(pod.uid);
  Holding likely;
  likely.uid = pod.uid;
  likely.key = pod.key;
  likely.node = node;
  if (held != nullptr && held->node == node &&
      usable(*held, pod, context_of(pod, held).distributed)) {
    likely = *held;
  } else {
    const Answer found = answer(context_of(pod, nullptr), node);
    if (!found.verdict.fits()) {
      return make_error(Errc::conflict, "pod " + pod.key.text() + " does not fit on node " +
                                            nodes_.node(node).name + ": " + found.verdict.reason);
    }
    likely.chips = found.chips;
  }
  const std::uint64_t count = decision_count_;
  Annotations notes = annotations_of(decide(pod, likely), nodes_.node(node));
  decision_count_ = count;
  return Admission{pod.uid, std::move(notes)};
}

// The holding gets a name that no pod can have as uid.
void Scheduler::orphan(InFlightMap::iterator it) {
  const std::string uid = it->first;
  Holding holding = *ledger_.find(uid);
  const OrphanedReservation orphan{"\norphan#" + std::to_string(++orphan_count_), holding.key,
                                   it->second.term, it->second.ask_again};
  in_flight_.erase(it);
  ledger_.drop(uid);
  if (!holding.group.empty()) groups_.forget(holding);
  holding.uid = orphan.holding;
  holding.job.clear();
  holding.group.clear();
  (void)ledger_.hold(std::move(holding));  // cannot fail: these chips have just been freed
  orphans_.emplace(uid, orphan);
}

// The outcome of the pod's bindings is known.
void Scheduler::drop_orphans(const std::string& uid) {
  const auto [first, last] = orphans_.equal_range(uid);
  for (auto it = first; it != last; ++it) {
    const NodeId node = ledger_.find(it->second.holding)->node;
    ledger_.drop(it->second.holding);
    settle(node);
  }
  orphans_.erase(first, last);
}

void Scheduler::check_orphans() {
  std::vector<std::pair<std::string, OrphanedReservation>> due;
  for (auto& [uid, orphan] : orphans_) {
    if (orphan.ask_again > clock_.now()) continue;
    orphan.ask_again = clock_.now() + kRecheckInterval;
    due.emplace_back(uid, orphan);
  }
  for (const auto& [uid, orphan] : due) {
    cluster_.refresh(orphan.key,
                     [this, uid = uid, name = orphan.holding](const Result<void>& result) {
                       const auto [first, last] =
                           orphans_.equal_range(uid);  // empty: it was found bound, or is gone
                       for (auto it = first; result && it != last; ++it) {
                         if (it->second.holding != name) continue;
                         const NodeId node = ledger_.find(name)->node;
                         ledger_.drop(name);
                         orphans_.erase(it);
                         return settle(node);
                       }
                     });
  }
}

}  // namespace chipweave::sched
