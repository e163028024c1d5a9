// Requests of other schedulers (Place, Reserve), and the list of placements for followers of
// decisions.
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

Result<void> Scheduler::require_ready() const {
  if (!waiting_for_.empty()) return make_error(Errc::unavailable, waiting_for_);
  return {};
}

// The cluster's pod if it may reserve chips: it has this uid, is pending and requests chips.
Result<const ClusterPod*> Scheduler::holdable_pod(const PodRequest& pod) const {
  const std::string name = "pod " + pod.key.text();
  const ClusterPod* known = cluster_.find(pod.key);
  if (known == nullptr) {
    return make_error(Errc::not_found,
                      name + " is not known; only pods of the cluster can reserve chips");
  }
  if (known->request.uid != pod.uid) {
    return make_error(Errc::conflict,
                      name + " has another uid: it was deleted and recreated; nothing is held");
  }
  if (!known->refused.empty()) return make_error(Errc::conflict, name + ": " + known->refused);
  if (!known->node.empty()) {
    return make_error(Errc::conflict, name + " is already bound to node " + known->node);
  }
  if (known->request.chips == 0) return make_error(Errc::conflict, name + " requests no chips");
  return known;
}

Result<PlacedChips> Scheduler::place(const PodRequest& pod, std::span<const std::string_view> nodes,
                                     bool reserve) {
  if (std::string why = cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  return place_on(pod, nodes, reserve);
}

Result<PlacedChips> Scheduler::what_if(const PodRequest& pod,
                                       std::span<const std::string_view> nodes) {
  if (auto ready = require_ready(); !ready) return std::move(ready).error();
  return place_on(pod, nodes, false);
}

Result<PlacedChips> Scheduler::place_on(const PodRequest& pod,
                                        std::span<const std::string_view> nodes, bool reserve) {
  if (pod.chips <= 0) return make_error(Errc::invalid_argument, "the pod requests no chips");
  if (reserve) {
    if (auto may = holdable_pod(pod); !may) return std::move(may).error();
  }
  const std::vector<std::string_view> all =
      nodes.empty() ? all_names() : std::vector<std::string_view>{};
  Result<PlacedChips> out = placed(
      evaluate(Verb::place, pod, nodes.empty() ? std::span<const std::string_view>(all) : nodes,
               reserve ? Purpose::to_bind : Purpose::what_if));
  if (!reserve || !out) return out;
  const Holding* held = ledger_.find(pod.uid);
  if (held != nullptr && !held->bound) {
    out->lifetime =
        std::chrono::duration_cast<std::chrono::milliseconds>(held->expires - clock_.now());
  }
  return out;
}

Result<PlacedChips> Scheduler::reserve(const PodRequest& asked, std::string_view on) {
  if (std::string why = cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  expire_reservations();
  const auto may = holdable_pod(asked);
  if (!may) return Error(may.error());
  const PodRequest& pod = (*may)->request;
  if (const InFlightBinding* binding = being_bound(pod.uid)) {
    return make_error(Errc::conflict,
                      "pod " + pod.key.text() + " is being bound to node " + binding->binding.node);
  }
  const NodeId node = nodes_.find(on);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return make_error(Errc::not_found, "node " + std::string(on) + " has not reported its chips");
  }
  const Holding* held = is_member(pod) ? groups_.claim(pod) : ledger_.find(pod.uid);
  if (held == nullptr || held->node != node || nodes_.node(node).stale ||
      !usable(*held, pod, context_of(pod, held).distributed)) {
    return place_on(pod, {&on, 1}, true);
  }
  const auto expires = clock_.now() + options_.reservation_ttl;
  if (held->group.empty()) {
    ledger_.extend(pod.uid, expires);
  } else {
    groups_.extend(held->group, expires);
  }
  return kept(pod, *held);
}

// An existing reservation with a renewed lifetime.
PlacedChips Scheduler::kept(const PodRequest& pod, const Holding& holding) const {
  const Node& node = nodes_.node(holding.node);
  PlacedChips out{node.name, node.topology.indices(holding.chips), 0, 0, options_.reservation_ttl};
  if (const Group* group = holding.group.empty() ? nullptr : groups_.find(holding.group)) {
    out.gbps = group->plan.gbps;
    out.best_gbps = group->plan.best_gbps;
    return out;
  }
  const RequestContext context = context_of(pod, nullptr);
  const ChipSet chips = holding.chips | beside_on(context, holding.node);
  out.gbps = node.wiring->gbps(chips);
  out.best_gbps = node.wiring->best_gbps(chips, context.distributed);
  return out;
}

PlacedPod Scheduler::placed_pod_of(const Decision& d) const {
  return {d.pod,
          {nodes_.node(d.node).name, d.uid, d.resource, d.indices, d.gbps, d.id, d.time},
          d.best_gbps};
}

Result<std::string> Scheduler::placed_pods(
    std::string_view after, std::size_t most,
    const std::function<void(const PlacedPod&)>& visit) const {
  if (auto ready = require_ready(); !ready) return std::move(ready).error();
  std::string last;
  bool more = false;
  std::size_t visited = 0;
  records_.each_after(after, [&](const PodRecord& record) {
    if (record.decision == nullptr) return true;
    more = visited == most;
    if (more) return false;
    visit(placed_pod_of(*record.decision));
    last = record.uid;
    ++visited;
    return true;
  });
  return more ? last : std::string();
}

}  // namespace chipweave::sched
