// BindCoordinator — bindings: those that a scheduler asks us to make, and those of other schedulers
// that the API server asks us to admit.
//
// The cluster answers a binding later, or not at all. Until the outcome is known the pod keeps the
// chips (InFlightBinding). A repeated bind to the same node sends the identical binding again, of
// which the API server stores only one; a bind to another node is refused. For an admitted binding
// the API server never reports the outcome: if its scheduler chooses another node meanwhile, both
// sets are kept until it is known (SecondSet). Owner: the loop thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/app/bind_permission.hpp"
#include "scheduler-plugin/app/bound_pods.hpp"

namespace chipweave::sched {

// The answer to a request for a pod whose binding to another node is in flight.
Error bound_elsewhere(const InFlightBinding& in_flight);

class BindCoordinator : public UseCase {
 public:
  BindCoordinator(Core& core, const Evaluator& evaluator, Reservations& reservations,
                  Decisions& decisions, BoundPods& bound_pods,
                  std::vector<std::string> scheduler_names)
      : UseCase(core),
        permission_(core.clock, std::move(scheduler_names)),
        evaluator_(evaluator),
        reservations_(reservations),
        decisions_(decisions),
        bound_pods_(bound_pods) {}

  // A filter or prioritize of the caller was answered for the pod.
  void answered(const std::string& caller, const PodRequest& pod) {
    permission_.answered(caller, pod, cluster_.find(pod.key));
  }
  // Another replica leads.
  void step_down() { permission_.forget(); }

  // ok: the pod is bound there, with its chips in its annotations. Errors: not_found, conflict,
  // invalid_argument: it was not bound. unavailable: try again; it may have been bound.
  void bind(const Binding& binding, Done done);
  // Admission of a binding, from any scheduler, before the API server stores it. Answers the
  // annotations to add: none for a pod without chips, or if the API server will reject the binding
  // anyway. The pod then keeps the chips until the outcome of the binding is known. A dry run gets
  // the same answer and keeps nothing. Errors: conflict, not_found: the pod must not be bound this
  // way. unavailable: cannot be decided now.
  void admit(const AdmissionRequest& request, Admitted done);

  // Bindings without an answer: after the uncertainty window the pod is read again to learn the
  // outcome. Until that succeeds, its chips stay taken.
  void check();
  // Preconditions: its binding is in flight.
  void done(PodRecord& record);
  void failed(PodRecord& record, const Error& why);
  // The outcome of the pod's earlier binding is known.
  void drop_second(PodRecord& record);
  // A pod is bound with these chips. A binding of an earlier term for the same chips was unknown to
  // the leader that gave them away, so it was never stored.
  void give_up_earlier(NodeId node, const Placement& claimed);

 private:
  PodRecord* record_in_flight(std::string_view uid);
  void bind_known(const Binding& binding, Done done);
  void bind_again(PodRecord& same, const Binding& binding, Done done);
  void bind_when_certain(const Binding& binding, Done done);
  // Precondition: the pod has a reservation there.
  PodRecord& begin(const Binding& binding, const PodRequest& pod);
  void ask_cluster(PodRecord& record);
  void cluster_answered(const std::string& uid, std::uint64_t question, const Result<void>& result);
  void check_seconds();

  // admission.cpp
  void admit_when_certain(const AdmissionRequest& request, const Admitted& finish);
  Result<Admission> admit_known(const AdmissionRequest& request);
  Result<Admission> would_admit(const PodRequest& pod, NodeId node);
  Result<void> set_aside(PodRecord& record);

  BindPermission permission_;
  const Evaluator& evaluator_;
  Reservations& reservations_;
  Decisions& decisions_;
  BoundPods& bound_pods_;
  std::uint64_t questions_ = 0;
  std::uint64_t epochs_ = 0;       // so far
  std::uint64_t second_sets_ = 0;  // so far
};

}  // namespace chipweave::sched
