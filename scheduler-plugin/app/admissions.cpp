#include "scheduler-plugin/app/admissions.hpp"

#include <utility>
#include <vector>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/uncertainty.hpp"

namespace chipweave::sched {
namespace {

Error admitted_too_often(const PodKey& pod) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(kAdmissionWindow).count();
  return make_error(Errc::conflict, "pod " + pod.text() + ": its bindings were admitted for " +
                                        std::to_string(minutes) +
                                        " minutes and none has a known outcome; try again once "
                                        "chipweave has read the pod");
}

}  // namespace

Error bound_elsewhere(const InFlightBinding& in_flight) {
  return make_error(Errc::conflict, "pod " + in_flight.binding.key.text() +
                                        " is being bound to node " + in_flight.binding.node +
                                        "; its outcome is not known yet");
}

void Admissions::admit(const AdmissionRequest& request, Admitted done) {
  const Binding& binding = request.binding;
  Admitted finish = [this, binding, begin = clock_.now(),
                     done = std::move(done)](Result<Admission> result) {
    if (!result) observer_.on(BindFailed{binding, result.error()});
    observer_.on(DecisionMade{Verb::admit, clock_.now() - begin, result.ok() ? 1U : 0U});
    done(std::move(result));
  };
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return finish(make_error(Errc::unavailable, std::move(why)));
  const ClusterPod* pod = cluster_.find(binding.key);
  const bool same = pod != nullptr && (binding.uid.empty() || pod->request.uid == binding.uid);
  if (same && !pod->has_gates()) return admit_when_certain(request, finish);
  // the pod may have been created or recreated, or its last gate removed, a moment ago
  cluster_.refresh(binding.key,
                   [this, request, finish = std::move(finish)](const Result<void>& result) {
                     if (!result) return finish(result.error());
                     admit_when_certain(request, finish);
                   });
}

void Admissions::admit_when_certain(const AdmissionRequest& request, const Admitted& finish) {
  const ClusterPod* pod = cluster_.find(request.binding.key);
  const NodeId node = nodes_.find(request.binding.node);
  const bool ours =
      pod != nullptr && pod->node.empty() && pod->request.chips > 0 && node != kNoNode;
  if (!ours || authority_.is_certain(request.binding.node)) return admit_known(request, finish);
  authority_.when_certain(request.binding.node,
                          [this, request, finish](const Result<void>& result) {
                            if (!result) return finish(result.error());
                            admit_known(request, finish);
                          });
}

void Admissions::admit_known(const AdmissionRequest& request, const Admitted& finish) {
  const ClusterPod* pod = cluster_.find(request.binding.key);
  const bool first = pod == nullptr || records_.find_in_flight(pod->request.uid) == nullptr;
  const std::uint64_t epochs = state_.epochs;
  Result<Admission> answer = decide(request);
  const PodRecord* record = answer ? records_.find_in_flight(answer->uid) : nullptr;
  // admitted now, and not our own binding
  const bool begun = record != nullptr && state_.epochs != epochs;
  if (!begun || !record->in_flight->claim) return finish(std::move(answer));
  hand_over(*record, *answer, first, finish);
}

// A binding that is not admitted after all leaves its chips at once, unless an earlier one may
// still arrive.
void Admissions::hand_over(const PodRecord& record, const Admission& answer, bool first,
                           const Admitted& finish) {
  // copies: the answer may come before the call returns
  const InFlightBinding& in_flight = *record.in_flight;
  const BindOrder order{in_flight.binding, in_flight.annotations, in_flight.claim};
  cluster_.hand_over(
      order, [this, answer, first, epoch = in_flight.epoch, finish](const Result<void>& result) {
        if (result) return finish(answer);
        PodRecord* now = records_.find_in_flight(answer.uid);
        if (first && now != nullptr && now->in_flight->epoch == epoch)
          now->in_flight->admitted_until = now->in_flight->ask_again = clock_.now();
        finish(result.error());
      });
}

Result<Admission> Admissions::decide(const AdmissionRequest& request) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  reservations_.expire();
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
  // No API server binds it yet, and chips that it got now would decide where its gang goes.
  if (pod->has_gates()) {
    return make_error(Errc::conflict,
                      "pod " + request.binding.key.text() + " is behind a scheduling gate");
  }
  const Binding binding{request.binding.key, pod->request.uid, request.binding.node};
  const NodeId node = nodes_.find(binding.node);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return make_error(Errc::conflict, "node " + binding.node + ": inventory not received");
  }
  PodRecord* earlier = records_.find_in_flight(binding.uid);
  const bool here = earlier != nullptr && earlier->in_flight->binding.node == binding.node;
  // The claim of an admitted binding is for one node, where the pod may still be bound.
  const bool only_there = earlier != nullptr && (!earlier->in_flight->admitted_only() ||
                                                 earlier->in_flight->claim.has_value());
  if (only_there && !here) return bound_elsewhere(*earlier->in_flight);
  if (here) decisions_.update_place(*earlier->in_flight);
  if (here && (request.dry_run ||
               request.placement == earlier->in_flight->annotations[kPlacementAnnotation]))
    return Admission{binding.uid, earlier->in_flight->annotations};  // the latter: our own binding
  if (request.dry_run) return would_admit(pod->request, node);
  const Clock::Steady now = clock_.now();
  const bool again = earlier != nullptr && earlier->in_flight->admitted_until != Clock::Steady();
  const Clock::Steady since = again ? earlier->in_flight->admitted_since : now;
  if (now - since >= kAdmissionWindow) return admitted_too_often(binding.key);
  if (!here) {
    if (earlier != nullptr) {
      if (auto aside = set_aside(*earlier); !aside) return std::move(aside).error();
    }
    if (auto settled = gangs_.sessions().settle(pod->request, node); !settled)
      return std::move(settled).error();
    if (auto taken = reservations_.take(pod->request, node); !taken)
      return std::move(taken).error();
  }
  PodRecord& record = here ? *earlier : decisions_.begin(binding, pod->request);
  records_.on(binding.uid, PodEvent::admitted);
  InFlightBinding& begun = *record.in_flight;
  begun.admitted_since = since;
  begun.admitted_until = now + kUncertaintyWindow;
  begun.term = authority_.term();
  begun.epoch = ++state_.epochs;
  if (record.state == PodState::uncertain) begun.ask_again = begun.admitted_until;
  return Admission{binding.uid, begun.annotations};
}

// What admit() would answer, without taking chips.
Result<Admission> Admissions::would_admit(const PodRequest& pod, NodeId node) {
  const auto planned = gangs_.sessions().would_settle(pod, node);
  if (!planned) return planned.error();
  const Holding* held = *planned != nullptr ? *planned : ledger_.find(pod.uid);
  Holding likely;
  likely.uid = pod.uid;
  likely.key = pod.key;
  likely.node = node;
  if (held != nullptr && held->node == node &&
      evaluator_.usable(*held, pod, contexts_.of(pod, held).distributed)) {
    likely = *held;
    likely.uid = pod.uid;
    likely.key = pod.key;
  } else {
    const Answer found = evaluator_.answer(contexts_.of(pod, nullptr), node);
    if (!found.verdict.fits()) {
      return make_error(Errc::conflict, "pod " + pod.key.text() + " does not fit on node " +
                                            nodes_.node(node).name + ": " + found.verdict.reason);
    }
    likely.chips = found.chips;
  }
  return Admission{pod.uid, annotations_of(decisions_.preview(pod, likely), nodes_.node(node))};
}

// The chips of the pod's uncertain binding stay taken while it is bound elsewhere; the holding gets
// a name that no pod can have as uid. A pod can have one such set: with more, a scheduler that
// tries node after node would take a whole cluster for one pod. Errors: conflict.
Result<void> Admissions::set_aside(PodRecord& record) {
  if (record.second != nullptr) {
    return make_error(Errc::conflict,
                      "pod " + record.key.text() +
                          ": the outcome of two earlier bindings is not known yet; try again");
  }
  SecondSet second{"\nsecond#" + std::to_string(++second_sets_), record.in_flight->term,
                   record.in_flight->ask_again};
  Holding holding = drop_holding(record.uid);
  records_.on(record.uid, PodEvent::set_aside);
  holding.uid = second.holding;
  holding.job.clear();
  holding.group.clear();
  holding.planned = false;
  ledger_.hold_free(std::move(holding));
  records_.set_second(record, std::move(second));
  return {};
}

void Admissions::drop_second(PodRecord& record) {
  if (record.second == nullptr) return;
  const std::string name = record.second->holding;
  const NodeId node = ledger_.find(name)->node;
  records_.end_second(record);
  ledger_.drop(name);
  ++state_.freed;
  bound_pods_.settle(node);
}

void Admissions::check() {
  std::vector<std::pair<PodKey, std::string>> due;
  std::vector<std::string> uids;
  for (PodRecord* record : records_.with_second()) {
    if (record->second->ask_again > clock_.now()) continue;
    record->second->ask_again = clock_.now() + kRecheckInterval;
    due.emplace_back(record->key, record->second->holding);
    uids.push_back(record->uid);
  }
  for (std::size_t i = 0; i < due.size(); ++i) {
    cluster_.refresh(due[i].first,
                     [this, uid = uids[i], name = due[i].second](const Result<void>& result) {
                       PodRecord* record = records_.find(uid);
                       // else: the pod was found bound, or is gone
                       if (result && record != nullptr && record->second != nullptr &&
                           record->second->holding == name) {
                         drop_second(*record);
                       }
                     });
  }
}

}  // namespace chipweave::sched
