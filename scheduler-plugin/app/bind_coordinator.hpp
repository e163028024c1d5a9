// BindCoordinator — bindings that a scheduler asks us to make.
//
// The cluster answers a binding later, or not at all. Until the outcome is known the pod keeps the
// chips (InFlightBinding), and so it does for a binding that was only admitted (Admissions). A
// repeated bind to the same node sends the identical binding again, of which the API server stores
// only one; a bind to another node is refused, unless the one in flight was only admitted. Owner:
// the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/admissions.hpp"
#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/app/bind_permission.hpp"
#include "scheduler-plugin/app/bound_pods.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"

namespace chipweave::sched {

class BindCoordinator : public UseCase {
 public:
  BindCoordinator(Core& core, Reservations& reservations, Decisions& decisions,
                  BoundPods& bound_pods, Admissions& admissions, const Gangs& gangs,
                  std::vector<std::string> scheduler_names)
      : UseCase(core),
        permission_(core.clock, std::move(scheduler_names)),
        reservations_(reservations),
        decisions_(decisions),
        bound_pods_(bound_pods),
        admissions_(admissions),
        gangs_(gangs) {}

  // A filter or prioritize of the caller was answered for the pod.
  void answered(const std::string& caller, const PodRequest& pod) {
    permission_.answered(caller, pod.uid);
  }
  // Another replica leads.
  void step_down() { permission_.forget(); }

  // ok: the pod is bound there, with its chips in its annotations. Errors: not_found, conflict,
  // invalid_argument: it was not bound. unavailable: try again; it may have been bound.
  void bind(const Binding& binding, Done done);
  // Bindings without an answer: after the uncertainty window the pod is read again to learn the
  // outcome. Until that succeeds, its chips stay taken.
  void check();
  // Preconditions: its binding is in flight.
  void done(PodRecord& record);
  void failed(PodRecord& record, const Error& why);
  // A pod is bound with these chips. A binding of an earlier term for the same chips was unknown to
  // the leader that gave them away, so it was never stored; if it was, because the pod that has
  // them now is gone already, the watch will show it. One whose answer is awaited keeps its chips.
  void give_up_earlier(NodeId node, const Placement& claimed);

 private:
  void bind_known(const Binding& binding, Done done);
  void bind_again(PodRecord& same, const Binding& binding, Done done);
  void bind_when_certain(const Binding& binding, Done done);
  void ask_cluster(PodRecord& record);
  void cluster_answered(const std::string& uid, std::uint64_t question, const Result<void>& result);
  // Those that wait for the outcome; they wait no longer.
  std::vector<Done> callers_of(const std::string& uid);

  BindPermission permission_;
  Reservations& reservations_;
  Decisions& decisions_;
  BoundPods& bound_pods_;
  Admissions& admissions_;
  const Gangs& gangs_;
  std::unordered_map<std::string, std::vector<Done>> waiting_;  // by uid, of bindings in flight
  std::uint64_t questions_ = 0;
};

}  // namespace chipweave::sched
