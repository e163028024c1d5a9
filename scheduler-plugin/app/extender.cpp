#include "scheduler-plugin/app/extender.hpp"

#include <utility>

namespace chipweave::sched {

const Evaluation& Extender::answer(Verb verb, const PodRequest& pod,
                                   std::span<const std::string_view> nodes,
                                   const std::string& caller) {
  const Evaluation& evaluation = evaluate(verb, pod, nodes, Purpose::to_bind);
  bindings_.answered(caller, pod);
  return evaluation;
}

// filter reserves only if exactly one node is left, because prioritize is not called then.
const Evaluation& Extender::evaluate(Verb verb, const PodRequest& asked,
                                     std::span<const std::string_view> nodes, Purpose purpose) {
  const auto begin = clock_.now();
  reservations_.expire();
  const ClusterPod* known = purpose == Purpose::what_if ? nullptr : reservations_.pending(asked);
  const PodRequest& pod = known != nullptr ? known->request : asked;
  const InFlightBinding* binding = known != nullptr ? records_.being_bound(pod.uid) : nullptr;
  const bool to_bind = known != nullptr && binding == nullptr && purpose == Purpose::to_bind;
  std::optional<Verdict> waits;
  if (to_bind) reservations_.begin(verb, pod);
  if (to_bind) waits = gangs_.find_place(*known, nodes);
  const bool in_session = known != nullptr && binding == nullptr && purpose == Purpose::in_session;
  if (in_session) {
    const bool one = verb == Verb::predicate && nodes.size() == 1;
    waits = gangs_.sessions().find_place(*known, one ? nodes_.find(nodes.front()) : kNoNode);
  }
  if (known == nullptr && purpose != Purpose::what_if) waits = gangs_.refuse_unseen(pod);
  const Holding* part = known != nullptr ? reservations_.part_of(pod, purpose) : nullptr;
  RequestContext context = contexts_.of(pod, part);
  if (binding != nullptr) {
    context.binding = &binding->decision;
    if (!binding->admitted_only())
      context.only = part->node;  // else its scheduler may choose again
  }
  if (in_session && context.planned()) {
    nodes_.find_all(nodes, asked_);
    alike_ = gangs_.sessions().alike_among(pod, asked_);
    context.alike = &alike_;
  }
  const Evaluation& s =
      waits ? evaluator_.refuse(*waits, nodes) : evaluator_.evaluate(context, nodes);
  if (to_bind && !waits && context.only != kNoNode && s.fits == 0)
    evaluate_again(*known, context, nodes);
  if (known != nullptr && !waits && s.fits == 0 && purpose == Purpose::to_bind)
    find_room(context, *known, nodes);
  if (to_bind && s.fits == 0) reservations_.fits_nowhere(verb, pod);
  const bool found = s.best_node != kNoNode;
  if (known != nullptr || verb == Verb::place) {
    chosen_ = found ? evaluator_.answer(context, s.best_node) : Answer{};
  }
  if (known != nullptr && verb != Verb::predicate) remember(verb, pod, purpose);
  if (to_bind && found) {
    if (context.part != nullptr) {
      reservations_.renew(*context.part);
    } else if (verb != Verb::filter || s.fits == 1) {
      reservations_.hold(pod, s.best_node, chosen_);
    }
  }
  if (known != nullptr) nominations_.keep_for(pod.uid);
  for (const Verdict& v : s.verdicts) {
    if (!v.fits() && v.count > 0) observer_.on(NodesRejected{v.cause, v.count});
  }
  if (to_bind && verb == Verb::filter && s.fits == 0 && !nodes.empty())
    observer_.on(PodUnplaceable{pod.key, pod.uid, rejection_summary(s)});
  observer_.on(DecisionMade{verb, clock_.now() - begin, s.fits});
  return s;
}

// The node of the pod's gang or group is gone, unhealthy, full or not offered: plans again around
// running members.
void Extender::evaluate_again(const ClusterPod& pod, RequestContext& context,
                              std::span<const std::string_view> nodes) {
  if (context.planned()) {
    const std::optional<Verdict> waits = gangs_.find_another(pod, nodes);
    context = contexts_.of(pod.request, waits ? nullptr : ledger_.find(pod.request.uid));
    if (waits) {
      evaluator_.refuse(*waits, nodes);
      return;
    }
  } else {
    groups_.dissolve(group_id(pod.request));
    context = contexts_.of(pod.request, nullptr);
  }
  evaluator_.evaluate(context, nodes);
}

// The pod fits nowhere: evaluates it again if others give up what is reserved for them.
void Extender::find_room(RequestContext& context, const ClusterPod& pod,
                         std::span<const std::string_view> nodes) {
  const Evaluation& s = evaluator_.evaluation();
  const auto evaluate_again = [&] {
    // what pods of its job held may have ended with those reservations
    context.of_job = contexts_.of(pod.request, context.part).of_job;
    evaluator_.evaluate(context, nodes);
  };
  if (reservations_.end_unpromising_speculation(pod.request)) evaluate_again();
  if (s.fits == 0 && nominations_.give_way(context, pod.priority, s.nodes)) evaluate_again();
}

// Keeps what explain needs later. Cost: a few verdicts, and a bit per node.
void Extender::remember(Verb verb, const PodRequest& pod, Purpose purpose) {
  const Evaluation& s = evaluator_.evaluation();
  PodRecord* record = records_.find(pod.uid);
  if (record == nullptr) return;  // it requests no chips
  LastEvaluation last;
  last.node = s.best_node;
  if (purpose == Purpose::in_session) {
    last.in_sessions = true;
  } else if (verb == Verb::prioritize) {
    // prioritize sees only what filter left
    if (record->evaluation != nullptr) last.offered = record->evaluation->offered;
  } else {
    NodeSet nodes(nodes_.size());
    for (const NodeId id : s.nodes) {
      if (id != kNoNode) nodes[id] = true;
    }
    if (offered_ == nullptr || *offered_ != nodes)
      offered_ = std::make_shared<const NodeSet>(std::move(nodes));
    last.offered = offered_;
  }
  if (s.best_node != kNoNode) {
    last.life = nodes_.node(s.best_node).life;
    last.request = chosen_.request;
    last.gbps = s.verdicts[s.best].offer.gbps;
    last.best_gbps = s.verdicts[s.best].best_gbps;
  }
  last.others = considered(s, nodes_);
  record->evaluation = std::make_unique<LastEvaluation>(std::move(last));
}

Result<void> Extender::allocate(const PodRequest& asked, std::string_view node_name) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  const auto begin = clock_.now();
  reservations_.expire();
  const ClusterPod* known = reservations_.pending(asked);
  if (known == nullptr || known->request.chips == 0) return {};
  const PodRequest& pod = known->request;
  const InFlightBinding* in_flight = records_.being_bound(pod.uid);
  if (in_flight != nullptr && in_flight->binding.node != node_name && !in_flight->admitted_only())
    return bound_elsewhere(*in_flight);
  if (in_flight != nullptr) return {};
  const NodeId node = nodes_.find(node_name);
  Result<void> taken;
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    taken =
        make_error(Errc::conflict, "node " + std::string(node_name) + ": inventory not received");
  } else if (taken = gangs_.sessions().place(*known, node); taken) {
    taken = reservations_.take(pod, node);
  }
  if (taken) reservations_.renew(*ledger_.find(pod.uid));
  observer_.on(DecisionMade{Verb::allocate, clock_.now() - begin, taken ? 1U : 0U});
  return taken;
}

void Extender::deallocate(const PodRequest& asked) {
  const ClusterPod* known = reservations_.pending(asked);
  if (known == nullptr || records_.being_bound(asked.uid) != nullptr) return;
  gangs_.sessions().taken_back(known->request);
  reservations_.withdraw(asked.uid);
}

}  // namespace chipweave::sched
