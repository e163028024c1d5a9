// Extender — filter and prioritize for kube-scheduler and for schedulers that work in sessions
// (Volcano): verdicts and scores, and the reservations that follow from them.
//
// prioritize (or filter, if only one node is left) reserves the best node's chips for a pod that
// the cluster knows by that uid. A session tries pods on nodes, takes them back, tries again every
// second, and does not report what it commits: its predicates and scores reserve nothing. A pod
// that a session has allocated is reserved, because later requests of the session must not use the
// same chips; the reservation ends when the session takes the pod back, evaluates it again (it is
// then unallocated), or by its time to live. Owner: the loop thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/app/bind_coordinator.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/nominations.hpp"
#include "scheduler-plugin/app/reservations.hpp"

namespace chipweave::sched {

class Extender : public UseCase {
 public:
  Extender(Core& core, Evaluator& evaluator, Reservations& reservations, Nominations& nominations,
           BindCoordinator& bindings, Gangs& gangs)
      : UseCase(core),
        evaluator_(evaluator),
        reservations_(reservations),
        nominations_(nominations),
        gangs_(gangs),
        bindings_(bindings) {}

  // The evaluation is valid until the next call of any use case. caller: who asks, and may bind the
  // pod afterwards (BindPermission); empty: a client without a name.
  const Evaluation& filter(const PodRequest& pod, std::span<const std::string_view> nodes,
                           const std::string& caller = {}) {
    return answer(Verb::filter, pod, nodes, caller);
  }
  const Evaluation& prioritize(const PodRequest& pod, std::span<const std::string_view> nodes,
                               const std::string& caller = {}) {
    return answer(Verb::prioritize, pod, nodes, caller);
  }
  // For a pod that the session has not placed yet. Reserves nothing and ends the reservation of an
  // earlier session.
  const Evaluation& in_session(Verb verb, const PodRequest& pod,
                               std::span<const std::string_view> nodes) {
    return evaluate(verb, pod, nodes, Purpose::in_session);
  }
  // The request of a known pod is taken from the cluster, not from the caller.
  const Evaluation& evaluate(Verb verb, const PodRequest& pod,
                             std::span<const std::string_view> nodes, Purpose purpose);
  // What the best node of the last evaluation would give the pod, if that was to be acted on.
  const Answer& chosen() const { return chosen_; }

  // The session has placed the pod on the node: reserves the best chips there until the pod is
  // bound, taken back, or the reservation expires. ok without a reservation for a pod that the
  // cluster does not know by this uid or that no longer waits. Errors: unavailable; conflict: it
  // does not fit.
  Result<void> allocate(const PodRequest& pod, std::string_view node);
  // The session has taken the pod back.
  void deallocate(const PodRequest& pod);

 private:
  const Evaluation& answer(Verb verb, const PodRequest& pod,
                           std::span<const std::string_view> nodes, const std::string& caller);
  void evaluate_again(const ClusterPod& pod, RequestContext& context,
                      std::span<const std::string_view> nodes);
  void find_room(RequestContext& context, const ClusterPod& pod,
                 std::span<const std::string_view> nodes);
  void remember(Verb verb, const PodRequest& pod, Purpose purpose);

  Evaluator& evaluator_;
  Reservations& reservations_;
  Nominations& nominations_;
  Gangs& gangs_;
  BindCoordinator& bindings_;
  std::shared_ptr<const NodeSet> offered_;  // of the last evaluation that was remembered
  std::vector<NodeId> asked_;
  std::vector<NodeId> alike_;  // RequestContext::alike
  Answer chosen_;
};

}  // namespace chipweave::sched
