#include "scheduler-plugin/app/placements.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

Result<void> Placements::require_ready() const {
  if (!authority_.waiting_for().empty())
    return make_error(Errc::unavailable, authority_.waiting_for());
  return {};
}

// The cluster's pod if it may reserve chips: it has this uid, is pending and requests chips.
Result<const ClusterPod*> Placements::holdable_pod(const PodRequest& pod) const {
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

Result<PlacedChips> Placements::place(const PodRequest& pod,
                                      std::span<const std::string_view> nodes, bool reserve) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  return place_on(pod, nodes, reserve);
}

Result<PlacedChips> Placements::what_if(const PodRequest& pod,
                                        std::span<const std::string_view> nodes) {
  if (auto ready = require_ready(); !ready) return std::move(ready).error();
  if (auto may = may_explain(); !may) return std::move(may).error();
  Result<PlacedChips> out = place_on(pod, nodes, false);
  explained_ += clock_.now() - explained_at_;
  return out;
}

Result<PlacedChips> Placements::place_on(const PodRequest& pod,
                                         std::span<const std::string_view> nodes, bool reserve) {
  if (pod.chips <= 0) return make_error(Errc::invalid_argument, "the pod requests no chips");
  if (reserve) {
    if (auto may = holdable_pod(pod); !may) return std::move(may).error();
  }
  const std::vector<std::string_view> all =
      nodes.empty() ? evaluator_.all_names() : std::vector<std::string_view>{};
  Result<PlacedChips> out = placed(extender_.evaluate(
      Verb::place, pod, nodes.empty() ? std::span<const std::string_view>(all) : nodes,
      reserve ? Purpose::to_bind : Purpose::what_if));
  if (!reserve || !out) return out;
  const Holding* held = ledger_.find(pod.uid);
  if (held != nullptr && !held->bound) {
    out->lifetime =
        std::chrono::duration_cast<std::chrono::milliseconds>(held->expires - clock_.now());
  }
  return out;
}

Result<PlacedChips> Placements::placed(const Evaluation& s) const {
  if (s.best_node == kNoNode) {
    const Verdict* most = nullptr;
    bool offered = false;  // by a node that is known
    for (const Verdict& v : s.verdicts) {
      if (v.count == 0) continue;
      offered = offered || (v.cause != Cause::unknown_node && v.cause != Cause::resource);
      if (most == nullptr || v.count > most->count) most = &v;
    }
    if (most == nullptr) return make_error(Errc::not_found, "no node has reported its chips");
    return make_error(offered ? Errc::conflict : Errc::not_found,
                      "no node fits; most common reason: " + most->reason);
  }
  const Verdict& v = s.verdicts[s.best];
  const Node& node = nodes_.node(s.best_node);
  return PlacedChips{node.name, node.topology.indices(extender_.chosen().chips), v.offer.gbps,
                     v.best_gbps};
}

Result<PlacedChips> Placements::reserve(const PodRequest& asked, std::string_view on) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  reservations_.expire();
  const auto may = holdable_pod(asked);
  if (!may) return Error(may.error());
  const PodRequest& pod = (*may)->request;
  if (const InFlightBinding* binding = records_.being_bound(pod.uid)) {
    return make_error(Errc::conflict,
                      "pod " + pod.key.text() + " is being bound to node " + binding->binding.node);
  }
  const NodeId node = nodes_.find(on);
  if (node == kNoNode || !nodes_.node(node).has_inventory()) {
    return make_error(Errc::not_found, "node " + std::string(on) + " has not reported its chips");
  }
  const Holding* held = is_member(pod) ? groups_.claim(pod) : ledger_.find(pod.uid);
  if (held == nullptr || held->node != node || nodes_.node(node).stale ||
      nodes_.node(node).closed() ||
      !evaluator_.usable(*held, pod, contexts_.of(pod, held).distributed)) {
    return place_on(pod, {&on, 1}, true);
  }
  reservations_.renew(*held);
  return kept(pod, *held);
}

// An existing reservation with a renewed lifetime.
PlacedChips Placements::kept(const PodRequest& pod, const Holding& holding) const {
  const Node& node = nodes_.node(holding.node);
  PlacedChips out{node.name, node.topology.indices(holding.chips), 0, 0, reservations_.ttl()};
  if (const Group* group = holding.group.empty() ? nullptr : groups_.find(holding.group)) {
    out.gbps = group->plan.gbps;
    out.best_gbps = group->plan.best_gbps;
    return out;
  }
  const RequestContext context = contexts_.of(pod, nullptr);
  const ChipSet chips = holding.chips | Evaluator::beside_on(context, holding.node);
  out.gbps = node.wiring->gbps(chips);
  out.best_gbps = node.wiring->best_gbps(chips, context.distributed);
  return out;
}

Result<void> Placements::release(const PodKey& key, std::string_view uid) {
  if (std::string why = authority_.cannot_decide(); !why.empty())
    return make_error(Errc::unavailable, std::move(why));
  const ClusterPod* pod = cluster_.find(key);
  if (pod == nullptr) return make_error(Errc::not_found, "pod " + key.text() + " is not known");
  if (pod->request.uid != uid) {
    return make_error(Errc::conflict,
                      "pod " + key.text() + " has another uid; nothing was released");
  }
  if (!pod->node.empty()) return cluster_.end(key);
  if (records_.being_bound(uid) != nullptr) {
    return make_error(Errc::conflict, "pod " + key.text() + " is being bound; try again");
  }
  reservations_.withdraw(uid);
  return {};
}

Result<std::string> Placements::placed_pods(
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
    visit(decisions_.placed_pod_of(*record.decision));
    last = record.uid;
    ++visited;
    return true;
  });
  return more ? last : std::string();
}

Result<void> Placements::may_explain() {
  const Clock::Steady now = clock_.now();
  explained_ -= std::min(explained_, (now - explained_at_) / kExplainShare);
  explained_at_ = now;
  if (explained_ < kExplainBurst) return {};
  return make_error(Errc::unavailable,
                    "too many explanations or what-if requests at a time; try again in a second");
}

Result<ExplainText> Placements::explain(const PodKey& key) {
  if (auto ready = require_ready(); !ready) return std::move(ready).error();
  const ClusterPod* pod = cluster_.find(key);
  if (pod == nullptr) return make_error(Errc::not_found, "pod " + key.text() + " is not known");
  if (auto may = may_explain(); !may) return std::move(may).error();
  ExplainText text{sched::explain(*pod, gangs_, state_, contexts_, evaluator_, clock_)};
  explained_ += clock_.now() - explained_at_;
  return text;
}

}  // namespace chipweave::sched
