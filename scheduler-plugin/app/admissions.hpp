// Admissions — bindings of other schedulers, which the API server asks us to admit before it stores
// them.
//
// It never reports the outcome: the pod keeps the chips until it shows how it is bound. If its
// scheduler chooses another node meanwhile, both sets are kept until that is known (SecondSet).
// Owner: the loop thread.
#pragma once

#include <cstdint>

#include "scheduler-plugin/app/bound_pods.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"

namespace chipweave::sched {

// The answer to a request for a pod whose binding to another node is in flight.
Error bound_elsewhere(const InFlightBinding& in_flight);

class Admissions : public UseCase {
 public:
  Admissions(Core& core, const Evaluator& evaluator, Reservations& reservations,
             Decisions& decisions, BoundPods& bound_pods, Gangs& gangs)
      : UseCase(core),
        evaluator_(evaluator),
        reservations_(reservations),
        decisions_(decisions),
        bound_pods_(bound_pods),
        gangs_(gangs) {}

  // Answers the annotations to add: none for a pod without chips, or if the API server will reject
  // the binding anyway. Where a claim hands the chips over, it is made first. The pod then keeps
  // the chips until the outcome of the binding is known. A dry run gets the same answer and keeps
  // nothing. Errors: conflict, not_found: the pod must not be bound this way. unavailable: cannot
  // be decided now.
  void admit(const AdmissionRequest& request, Admitted done);

  // The pod is to be bound elsewhere: the chips of its admitted binding become its second set.
  // Errors: conflict.
  Result<void> set_aside(PodRecord& record);
  // The outcome of the pod's earlier binding is known.
  void drop_second(PodRecord& record);
  // After the uncertainty window of a second set its pod is read again to learn the outcome. Until
  // that succeeds, the chips stay taken.
  void check();

 private:
  void admit_when_certain(const AdmissionRequest& request, const Admitted& finish);
  void admit_known(const AdmissionRequest& request, const Admitted& finish);
  Result<Admission> decide(const AdmissionRequest& request);
  void hand_over(const PodRecord& record, const Admission& answer, bool first,
                 const Admitted& finish);
  Result<Admission> would_admit(const PodRequest& pod, NodeId node);

  const Evaluator& evaluator_;
  Reservations& reservations_;
  Decisions& decisions_;
  BoundPods& bound_pods_;
  Gangs& gangs_;
  std::uint64_t second_sets_ = 0;  // so far
};

}  // namespace chipweave::sched
