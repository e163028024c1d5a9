// Requests of a scheduler that works in sessions (Volcano): it tries pods on nodes, takes them
// back, tries again every second, and does not report what it commits.
//
// Predicates and scores therefore reserve nothing. A pod that a session has allocated is reserved,
// because later requests of the session must not use the same chips. The reservation ends when the
// session takes the pod back, evaluates it again (it is then unallocated), or by its time to live.
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

const Evaluation& Scheduler::evaluate_session(Verb verb, const PodRequest& pod,
                                              std::span<const std::string_view> nodes) {
  return evaluate(verb, pod, nodes, Purpose::in_session);
}

Result<void> Scheduler::session_allocate(const PodRequest& asked, std::string_view node_name) {
  if (std::string why = cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  const auto begin = clock_.now();
  expire_reservations();
  const ClusterPod* known = pending(asked);
  if (known == nullptr || known->request.chips == 0) return {};
  const PodRequest& pod = known->request;
  const InFlightBinding* in_flight = being_bound(pod.uid);
  if (in_flight != nullptr && in_flight->binding.node != node_name && !in_flight->admitted_only())
    return bound_elsewhere(*in_flight);
  if (in_flight != nullptr) return {};
  const NodeId node = nodes_.find(node_name);
  Result<void> taken;
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    taken =
        make_error(Errc::conflict, "node " + std::string(node_name) + ": inventory not received");
  } else {
    taken = take_chips(pod, node);
  }
  if (taken) ledger_.extend(pod.uid, clock_.now() + options_.reservation_ttl);
  observer_.decided(Verb::allocate, clock_.now() - begin, taken ? 1 : 0);
  return taken;
}

void Scheduler::session_deallocate(const PodRequest& asked) {
  const ClusterPod* known = pending(asked);
  if (known != nullptr && being_bound(asked.uid) == nullptr) withdraw(asked.uid);
}

}  // namespace chipweave::sched
