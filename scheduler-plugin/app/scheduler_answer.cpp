// What one node can do for a request: chips that the solver chose, or why there are none.
#include <algorithm>
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {
namespace {

Verdict stale() {
  return rejected(Cause::stale, false, "inventory is stale: the node's agent is silent");
}

}  // namespace

// What other pods of the job hold there.
ChipSet Scheduler::beside_on(const Want& want, NodeId node) {
  if (want.of_job == nullptr) return {};
  const auto here = want.of_job->find(node);
  if (here == want.of_job->end()) return {};
  const bool own_too = want.own != nullptr && want.own->node == node;
  return own_too ? here->second - want.own->chips : here->second;
}

Scheduler::Answer Scheduler::answer(const Want& want, NodeId node) const {
  if (want.only != kNoNode && node != want.only)
    return {want.binding != nullptr ? binding_elsewhere() : group_elsewhere()};
  if (want.part != nullptr && want.part->node == node) return part_answer(want);
  return answer_of(want, nodes_.state(nodes_.state_of(node)), beside_on(want, node));
}

Scheduler::Answer Scheduler::part_answer(const Want& want) const {
  const Node& node = nodes_.node(want.part->node);
  if (node.stale) return {stale()};
  if (!usable(*want.part, *want.pod, want.distributed)) {
    return {rejected(Cause::unhealthy, false, "not enough healthy chips")};
  }
  const GroupPlan plan =
      want.binding != nullptr
          ? GroupPlan{want.binding->request, want.binding->gbps, want.binding->best_gbps}
          : groups_.find(want.part->group)->plan;
  Answer a;
  a.chips = want.part->chips;
  a.request = plan.request.value_or(
      solver::Request{node.free() | a.chips, {}, {}, a.chips.size(), want.distributed});
  a.verdict.gbps = plan.gbps;
  a.verdict.best_gbps = plan.best_gbps;
  a.verdict.left_over = node.free().size();
  return a;
}

Scheduler::Answer Scheduler::answer_of(const Want& want, const NodeState& state,
                                       ChipSet beside) const {
  const auto& offered = nodes_.resource_set(state.resources);
  if (!std::binary_search(offered.begin(), offered.end(), want.pod->resource)) {
    return {rejected(Cause::resource, true, "the node has no " + want.pod->resource)};
  }
  if (state.stale) return {stale()};
  return is_member(*want.pod) ? group_answer(want, state, beside)
                              : chips_answer(want, state, beside);
}

Scheduler::Answer Scheduler::chips_answer(const Want& want, const NodeState& state,
                                          ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet ill =
      want.distributed ? state.unhealthy | state.network_unhealthy : state.unhealthy;
  const int size = want.pod->chips;
  const solver::Request request{state.free - ill, {}, beside, size, want.distributed};
  const solver::Choice choice = machine.choose(request);
  if (choice.fits) {
    Answer a;
    a.chips = choice.chips;
    a.request = request;
    a.verdict.gbps = choice.gbps;
    a.verdict.best_gbps = choice.best_gbps;
    a.verdict.left_over = state.free.size() - size;
    return a;
  }
  if (choice.why == solver::Misfit::size || size > all.size()) {
    return {rejected(Cause::size, true,
                     size > all.size() ? "the machine has fewer chips than asked"
                                       : machine.reason(request, choice))};
  }
  const solver::Request healthy{all - ill, {}, {}, size, want.distributed};
  if (!machine.fits(healthy)) {
    return {rejected(Cause::unhealthy, false, "not enough healthy chips")};
  }
  if (choice.why == solver::Misfit::rule) {
    return {rejected(Cause::rule, false, "free chips form no set that the machine's rules allow")};
  }
  return {rejected(Cause::busy, false, "not enough free chips")};
}

Scheduler::Answer Scheduler::group_answer(const Want& want, const NodeState& state,
                                          ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet ill = state.unhealthy | state.network_unhealthy;
  const int replicas = want.pod->group->replicas;
  const std::string who = want.members == replicas
                              ? "all " + std::to_string(replicas) + " pods of the group"
                              : std::to_string(want.members) + " more of the group's pods";
  const auto no_room = [&](bool unresolvable) {
    return Answer{rejected(Cause::group, unresolvable, "needs room for " + who + " on one node")};
  };
  if (std::int64_t{want.members} * want.pod->chips > all.size()) return no_room(true);
  const int total = want.members * want.pod->chips;
  const std::vector<int> sizes(static_cast<std::size_t>(want.members), want.pod->chips);
  solver::GroupChoice choice = machine.choose_group(state.free - ill, beside, sizes, true);
  if (!choice.fits) return no_room(!machine.choose_group(all, {}, sizes, true).fits);
  Answer a;
  a.chips = choice.parts.front();
  a.parts = std::move(choice.parts);
  a.request = {state.free - ill, {}, beside, total, true};
  a.verdict.gbps = choice.gbps;
  a.verdict.best_gbps = choice.best_gbps;
  a.verdict.left_over = state.free.size() - total;
  return a;
}

}  // namespace chipweave::sched
