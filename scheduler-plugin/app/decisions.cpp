#include "scheduler-plugin/app/decisions.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/base/text.hpp"
#include "common/solver/chips/unguided.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/container_chips.hpp"

namespace chipweave::sched {

Decision Decisions::make(const PodRequest& pod, const Holding& holding) {
  Decision d = numbered(pod, holding, ++count_);
  const Node& node = state_.nodes.node(d.node);
  if (node.enforcement == domain::Enforcement::none && d.gbps > 0) {
    const double likely =
        solver::unguided_gbps(*node.wiring, node.free() | d.chips, d.chips.size(), d.beside);
    if (likely < d.gbps) d.unenforced_gbps = likely;
  }
  return d;
}

Decision Decisions::preview(const PodRequest& pod, const Holding& holding) const {
  return numbered(pod, holding, count_ + 1);
}

PodRecord& Decisions::begin(const Binding& binding, const PodRequest& pod) {
  PodRecord& record = *state_.records.find(pod.uid);
  const Holding& held = *state_.ledger.find(pod.uid);
  auto in_flight = std::make_unique<InFlightBinding>();
  in_flight->binding = binding;
  in_flight->term = authority_.term();
  in_flight->decision = make(pod, held);
  const Node& node = state_.nodes.node(held.node);
  in_flight->annotations = annotations_of(in_flight->decision, node);
  if (node.enforcement == domain::Enforcement::dra)
    in_flight->claim = claim_order_of(in_flight->decision);
  state_.nodes.set_predicate_time(held.node, in_flight->decision.predicate_time);
  state_.ledger.confirm(pod.uid);
  record.in_flight = std::move(in_flight);
  return record;
}

void Decisions::update_place(InFlightBinding& in_flight) const {
  if (!in_flight.admitted_only()) return;
  Decision& decision = in_flight.decision;
  const Node& node = state_.nodes.node(decision.node);
  auto now = gang_place(decision.uid, node);
  if (now == nullptr) return;
  decision.gang = std::move(now);
  in_flight.annotations = annotations_of(decision, node);
}

std::shared_ptr<const GangPlace> Decisions::gang_place(const std::string& uid,
                                                       const Node& node) const {
  const GangPlans::Where at = plans_.of(uid);
  if (at.plan == nullptr) return nullptr;
  return std::make_shared<const GangPlace>(place_of(at, node.name, state_.network));
}

void Decisions::continue_after(std::string_view id) {
  // No cluster makes as many, but a user who may annotate pods can write any number.
  constexpr std::uint64_t kMaxNumber = 1'000'000'000'000'000;
  if (!id.starts_with("d-")) return;
  const auto number = parse_number<std::uint64_t>(id.substr(2));
  if (number && *number <= kMaxNumber) count_ = std::max(count_, *number);
}

Decision Decisions::numbered(const PodRequest& pod, const Holding& holding,
                             std::uint64_t of) const {
  const Node& node = state_.nodes.node(holding.node);
  const RequestContext context = contexts_.of(pod, nullptr);
  Decision d;
  std::string number = std::to_string(of);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  d.id = "d-" + number;
  d.pod = pod.key;
  d.uid = pod.uid;
  d.resource = pod.resource;
  d.node = holding.node;
  d.chips = holding.chips;
  d.indices = node.topology.indices(holding.chips);
  d.containers = chips_of_containers(pod.containers, holding.chips, node);
  d.distributed = context.distributed;
  d.beside = Evaluator::beside_on(context, holding.node);
  const PodRecord* record = state_.records.find(pod.uid);
  const LastEvaluation* last = record == nullptr ? nullptr : record->evaluation.get();
  if (last != nullptr && last->node == holding.node && last->life == node.life && last->request) {
    d.request = last->request;
    d.others = last->others;
  } else {
    d.request = solver::Request{
        node.free() | holding.chips, {}, d.beside, holding.chips.size(), context.distributed};
  }
  if (const Group* group = holding.group.empty() ? nullptr : groups_.find(holding.group)) {
    d.of_group = true;
    if (group->plan.request) d.request = group->plan.request;
    for (const auto& uid : group->members) d.beside |= state_.ledger.find(uid)->chips;
    for (const auto& uid : group->spares) d.beside |= state_.ledger.find(uid)->chips;
    d.beside -= holding.chips;
  }
  d.gang = gang_place(pod.uid, node);
  d.gbps = node.wiring->gbps(d.chips | d.beside);
  d.best_gbps = node.wiring->best_gbps(d.chips | d.beside, d.distributed);
  d.time = clock_.wall();
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(d.time.time_since_epoch()).count();
  d.predicate_time = std::max<std::int64_t>(nanos, node.last_predicate_time + 1);
  return d;
}

PlacedPod Decisions::placed_pod_of(const Decision& d) const {
  return {d.pod,
          {state_.nodes.node(d.node).name, d.uid, d.resource, d.indices, d.gbps, d.id, d.time},
          d.best_gbps};
}

}  // namespace chipweave::sched
