// One node: chips that the solver chose, or why there are none.
#include <algorithm>
#include <utility>

#include "scheduler-plugin/app/evaluator.hpp"

namespace chipweave::sched {
namespace {

Verdict out_of_use(bool stale) {
  if (!stale) return node_closed();
  return rejected(Cause::stale, Remedy::time,
                  "inventory is stale: the node's agent is not reporting");
}

// Chips of other jobs than the one whose pods hold `beside`.
ChipSet loaded_on(const NodeState& state, ChipSet beside) {
  return state.wiring->topology().all() - state.free - state.unhealthy - beside;
}

}  // namespace

ChipSet Evaluator::beside_on(const RequestContext& context, NodeId node) {
  if (context.of_job == nullptr) return {};
  const auto here = context.of_job->find(node);
  if (here == context.of_job->end()) return {};
  const bool own_too = context.own != nullptr && context.own->node == node;
  return own_too ? here->second - context.own->chips : here->second;
}

Answer Evaluator::answer(const RequestContext& context, NodeId node) const {
  if (context.only != kNoNode && node != context.only) return {context.elsewhere(node)};
  if (context.part != nullptr && context.part->node == node) return part_answer(context);
  return answer_of(context, nodes_.state(nodes_.state_of(node)), beside_on(context, node));
}

Answer Evaluator::part_answer(const RequestContext& context) const {
  const Node& node = nodes_.node(context.part->node);
  if (node.stale || node.closed()) return {out_of_use(node.stale)};
  if (!usable(*context.part, *context.pod, context.distributed)) {
    return {rejected(Cause::unhealthy, Remedy::time, "not enough healthy chips")};
  }
  const GroupPlan plan = plan_of(context, node, beside_on(context, context.part->node));
  Answer a;
  a.chips = context.part->chips;
  a.request = plan.request.value_or(solver::Request{
      node.free() | a.chips, {}, {}, a.chips.size(), context.distributed, context.pod->objective});
  a.verdict.offer.gbps = plan.gbps;
  a.verdict.offer.left_over = node.free().size();
  a.verdict.best_gbps = plan.best_gbps;
  return a;
}

Answer Evaluator::answer_of(const RequestContext& context, const NodeState& state,
                            ChipSet beside) const {
  const auto& offered = nodes_.resource_set(state.resources);
  if (!std::binary_search(offered.begin(), offered.end(), context.pod->resource)) {
    return {rejected(Cause::resource, Remedy::unresolvable,
                     "the node has no " + context.pod->resource)};
  }
  if (state.stale || state.closed) return {out_of_use(state.stale)};
  return is_member(*context.pod) ? group_answer(context, state, beside)
                                 : chips_answer(context, state, beside);
}

bool Evaluator::fits(const RequestContext& context, const NodeState& state) const {
  if (is_member(*context.pod)) return answer_of(context, state, {}).verdict.fits();
  if (state.stale || state.closed) return false;
  const auto& offered = nodes_.resource_set(state.resources);
  if (!std::binary_search(offered.begin(), offered.end(), context.pod->resource)) return false;
  const ChipSet unusable =
      context.distributed ? state.unhealthy | state.network_unhealthy : state.unhealthy;
  return state.wiring->fits(
      {state.free - unusable, {}, {}, context.pod->chips, context.distributed});
}

Answer Evaluator::chips_answer(const RequestContext& context, const NodeState& state,
                               ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet unusable =
      context.distributed ? state.unhealthy | state.network_unhealthy : state.unhealthy;
  const int size = context.pod->chips;
  const solver::Request request{
      state.free - unusable,   {}, beside, size, context.distributed, context.pod->objective,
      loaded_on(state, beside)};
  const solver::Choice choice = machine.choose(request);
  if (choice.fits) {
    Answer a;
    a.chips = choice.chips;
    a.request = request;
    a.verdict.offer = solver::offer_of(machine, state.free, choice.chips, choice.gbps,
                                       demand_.demand(), state.room, context.pod->needs);
    a.verdict.best_gbps = choice.best_gbps;
    return a;
  }
  if (choice.why == solver::Misfit::size || size > all.size()) {
    return {rejected(Cause::size, Remedy::unresolvable,
                     size > all.size() ? "the machine has fewer chips than requested"
                                       : machine.reason(request, choice))};
  }
  const solver::Request healthy{all - unusable, {}, {}, size, context.distributed};
  if (!machine.fits(healthy)) {
    return {rejected(Cause::unhealthy, Remedy::time, "not enough healthy chips")};
  }
  if (choice.why == solver::Misfit::rule) {
    return {rejected(Cause::rule, Remedy::preemption,
                     "no set of free chips is allowed by the machine's rules")};
  }
  return {rejected(Cause::busy, Remedy::preemption, "not enough free chips")};
}

Answer Evaluator::group_answer(const RequestContext& context, const NodeState& state,
                               ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet unusable = state.unhealthy | state.network_unhealthy;
  const int replicas = context.pod->group->replicas;
  // Not how many are left: each member that gets its part would make another event.
  const std::string who = context.members == replicas
                              ? "all " + std::to_string(replicas) + " pods of the group"
                              : "the rest of the group's pods";
  const auto no_room = [&](Remedy remedy) {
    return Answer{rejected(Cause::group, remedy, "no room for " + who + " on one node")};
  };
  if (std::int64_t{context.members} * context.pod->chips > all.size())
    return no_room(Remedy::unresolvable);
  const int total = context.members * context.pod->chips;
  const std::vector<int> sizes(static_cast<std::size_t>(context.members), context.pod->chips);
  const ChipSet loaded = loaded_on(state, beside);
  solver::GroupChoice choice = machine.choose_group(
      {state.free - unusable, beside, sizes, true, context.pod->objective, loaded});
  if (!choice.fits) {
    if (machine.choose_group({all - unusable, {}, sizes, true}).fits)
      return no_room(Remedy::preemption);
    return no_room(machine.choose_group({all, {}, sizes, true}).fits ? Remedy::time
                                                                     : Remedy::unresolvable);
  }
  Answer a;
  a.chips = choice.parts.front();
  a.parts = std::move(choice.parts);
  a.request = {state.free - unusable, {}, beside, total, true, context.pod->objective, loaded};
  a.verdict.offer =
      solver::offer_of(machine, state.free, choice.chips, choice.gbps, demand_.demand(), state.room,
                       context.pod->needs.times(context.members));
  a.verdict.best_gbps = choice.best_gbps;
  return a;
}

bool Evaluator::usable(const Holding& holding, const PodRequest& pod, bool distributed) const {
  const Node& node = nodes_.node(holding.node);
  const ChipSet unusable = distributed ? node.unhealthy | node.network_unhealthy : node.unhealthy;
  return holding.chips.size() == pod.chips && !holding.chips.intersects(unusable);
}

}  // namespace chipweave::sched
