// Bind: a promise becomes the pod's, or the best set on the named node is taken now; and
// preemption's question.
#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {
namespace {

std::string index_text(const Node& node, ChipSet chips) {
  std::string text;
  for (const int index : node.topology.indices(chips)) {
    if (!text.empty()) text += ',';
    text += std::to_string(index);
  }
  return text;
}

}  // namespace

Result<void> Scheduler::bind(const Binding& binding) {
  const auto begin = clock_.now();
  expire_promises();
  auto result = bind_checked(binding);
  if (!result) observer_.bind_failed(binding.key, binding.node, result.error());
  observer_.decided(Verb::bind, clock_.now() - begin, result.ok() ? 1 : 0);
  return result;
}

Result<void> Scheduler::bind_checked(const Binding& binding) {
  const std::string name = "pod " + binding.key.text();
  const ClusterPod* pod = cluster_.find(binding.key);
  if (pod == nullptr) return make_error(Errc::not_found, name + " does not exist");
  if (pod->ask.uid != binding.uid) {
    return make_error(Errc::conflict, name + " has another uid: it was deleted and created anew");
  }
  if (!pod->node.empty()) {
    if (pod->node == binding.node) return {};  // asked again: the first answer was lost
    return make_error(Errc::conflict, name + " is already bound to node " + pod->node);
  }
  if (!pod->refused.empty()) return make_error(Errc::invalid_argument, pod->refused);
  if (pod->ask.chips == 0) return cluster_.bind(binding, {});
  const NodeId node = nodes_.find(binding.node);
  if (node == kNoNode) {
    return make_error(Errc::unavailable, "node " + binding.node + ": inventory not received");
  }
  if (auto taken = take_chips(pod->ask, node); !taken) return taken;
  Decision decision = decide(pod->ask, *ledger_.find(pod->ask.uid));
  const Annotations annotations = annotations_of(decision, nodes_.node(node));
  if (auto bound = cluster_.bind(binding, annotations); !bound) {
    withdraw(pod->ask.uid);
    return bound;
  }
  nodes_.set_predicate_time(node, decision.predicate_time);
  ledger_.confirm(pod->ask.uid);
  observer_.promise(Promise::confirmed);
  observer_.bound(decision.pod, binding.node, index_text(nodes_.node(node), decision.chips),
                  decision.gbps, decision.best_gbps, decision.id);
  looks_.erase(decision.uid);
  decisions_[decision.uid] = std::move(decision);
  return {};
}

// Afterwards the pod has a promise on this node. Keeps the one it has, if that is there and its
// chips are healthy.
Result<void> Scheduler::take_chips(const PodAsk& pod, NodeId node) {
  const Holding* held = is_member(pod) ? groups_.claim(pod) : ledger_.find(pod.uid);
  if (held != nullptr && held->node == node && !nodes_.node(node).stale &&
      usable(*held, pod, want_of(pod, held).distributed)) {
    return {};
  }
  if (held != nullptr && !held->group.empty()) {
    groups_.dissolve(std::string(held->group));
  } else {
    withdraw(pod.uid);
  }
  // kube-scheduler chose another node than the promised one, or the promise is over
  const Want want = want_of(pod, nullptr);
  Answer taken = answer(want, node);
  if (!taken.verdict.fits()) {
    return make_error(Errc::unavailable, "pod " + pod.key.text() + " no longer fits on node " +
                                             nodes_.node(node).name + ": " + taken.verdict.reason);
  }
  Look& look = looks_[pod.uid];
  look.node = node;
  look.request = taken.request;
  look.gbps = taken.verdict.gbps;
  look.best_gbps = taken.verdict.best_gbps;
  look.others.clear();
  promise(pod, node, taken);
  held = ledger_.find(pod.uid);
  if (held == nullptr) return make_error(Errc::internal, "the chips could not be held");
  return {};
}

Decision Scheduler::decide(const PodAsk& pod, const Holding& holding) {
  const Node& node = nodes_.node(holding.node);
  const Want want = want_of(pod, nullptr);
  Decision d;
  std::string number = std::to_string(++decision_count_);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  d.id = "d-" + number;
  d.pod = pod.key;
  d.uid = pod.uid;
  d.resource = pod.resource;
  d.node = holding.node;
  d.chips = holding.chips;
  d.indices = node.topology.indices(holding.chips);
  d.distributed = want.distributed;
  d.beside = beside_on(want, holding.node);
  const auto look = looks_.find(pod.uid);
  if (look != looks_.end() && look->second.node == holding.node && look->second.request) {
    d.request = look->second.request;
    d.others = look->second.others;
  } else {
    d.request = solver::Request{
        node.free() | holding.chips, {}, d.beside, holding.chips.size(), want.distributed};
  }
  if (const Group* group = holding.group.empty() ? nullptr : groups_.find(holding.group)) {
    d.of_group = true;
    if (group->plan.request) d.request = group->plan.request;
    for (const auto& uid : group->members) d.beside |= ledger_.find(uid)->chips;
    for (const auto& uid : group->spares) d.beside |= ledger_.find(uid)->chips;
    d.beside -= holding.chips;
  }
  d.gbps = node.wiring->gbps(d.chips | d.beside);
  d.best_gbps = node.wiring->best_gbps((d.chips | d.beside).size(), d.distributed);
  d.time = clock_.wall();
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(d.time.time_since_epoch()).count();
  d.predicate_time = std::max<std::int64_t>(nanos, node.last_predicate_time + 1);
  return d;
}

bool Scheduler::fits_without(const PodAsk& pod, std::string_view name,
                             std::span<const std::string> victims) {
  if (pod.chips == 0) return true;
  const NodeId id = nodes_.find(name);
  if (id == kNoNode) return false;
  NodeState state = nodes_.state(nodes_.state_of(id));
  for (const std::string& uid : victims) {
    const Holding* victim = ledger_.find(uid);
    if (victim != nullptr && victim->node == id) state.free |= victim->chips - state.unhealthy;
  }
  // its own promise is not in its way
  const Holding* own = ledger_.find(pod.uid);
  if (own != nullptr && own->node == id) state.free |= own->chips - state.unhealthy;
  const Want want = want_of(pod, nullptr);
  if (want.only != kNoNode && want.only != id) return false;
  return answer_of(want, state, {}).verdict.fits();
}

}  // namespace chipweave::sched
